import assert from 'node:assert/strict'
import { ENDED_REMEMBERED_MS } from '../../../law/model/limits.ts'
import { asGranted } from '../answers.ts'
import { KEY, RESOURCE, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

/** More than an engine has counters. */
const MANY_KEYS = 40

function assertGrowing(tokens: readonly number[]): void {
  for (const [index, token] of tokens.entries()) {
    assert.ok(Number.isSafeInteger(token) && token > 0, `${token} is not a token`)
    const before = tokens[index - 1] ?? 0
    assert.ok(token > before, `token ${token} came after ${before}`)
  }
}

/** Tokens of a key strictly increase in grant order, whatever ended the holds between. */
export const fencingSuite: EngineSuite = {
  name: 'fencing',
  tests: [
    engineTest('every new hold has a greater token', async (rig) => {
      const tokens: number[] = []
      for (const owner of ['a', 'b', 'a', 'a', 'c']) {
        tokens.push((await rig.grant(owner)).token)
        await rig.release(owner)
      }
      assertGrowing(tokens)
    }),

    engineTest('tokens grow through an expiry', async (rig) => {
      const first = await rig.grant('a')
      await rig.advance(TTL_MS * 1.5)
      const second = await rig.grant('a')
      assertGrowing([first.token, second.token])
    }),

    engineTest('tokens grow through an operator and the end of a session', async (rig) => {
      const first = await rig.grant('a')
      await rig.apply({ kind: 'force', key: KEY })
      await rig.openSession('s', TTL_MS)
      const second = await rig.grant('b', { session: 's' })
      await rig.apply({ kind: 'close-session', session: 's' })
      const third = await rig.grant('c')
      assertGrowing([first.token, second.token, third.token])
    }),

    engineTest('tokens grow from holder to waiter', async (rig) => {
      const tokens = [(await rig.grant('a')).token]
      const b = await rig.wait('b')
      const c = await rig.wait('c')
      await rig.release('a')
      tokens.push(asGranted(await b.answer()).token)
      await rig.release('b')
      tokens.push(asGranted(await c.answer()).token)
      assertGrowing(tokens)
    }),

    engineTest('readers that share a lock each have their own token', async (rig) => {
      const tokens: number[] = []
      for (const owner of ['a', 'b', 'c']) {
        tokens.push((await rig.grant(owner, { mode: 'read' })).token)
      }
      assertGrowing(tokens)
    }),

    engineTest('readers that are granted together each have their own token', async (rig) => {
      await rig.grant('w')
      const readers = [
        await rig.wait('a', { mode: 'read' }),
        await rig.wait('b', { mode: 'read' }),
        await rig.wait('c', { mode: 'read' }),
      ]
      await rig.release('w')
      const tokens = await Promise.all(
        readers.map(async (reader) => asGranted(await reader.answer()).token),
      )
      assertGrowing(tokens)
    }),

    engineTest('a re-entry keeps its token', async (rig) => {
      const { token } = await rig.grant('a')
      assert.equal((await rig.grant('a')).token, token)
      assert.equal((await rig.grant('a', { mode: 'read' })).token, token)
      await rig.release('a', { mode: 'read' })
      await rig.release('a')
      assert.equal((await rig.inspect()).holders[0]?.token, token)
    }),

    engineTest('a passage from reading to writing has a greater token', async (rig) => {
      const { token } = await rig.grant('a', { mode: 'read' })
      const upgraded = await rig.grant('a', { mode: 'write' })
      assertGrowing([token, upgraded.token])
      assert.equal((await rig.inspect()).holders[0]?.token, upgraded.token)
    }),

    engineTest('a downgrade keeps its token', async (rig) => {
      await rig.grant('a', { mode: 'read' })
      const { token } = await rig.grant('a', { mode: 'write' })
      await rig.release('a', { mode: 'write' })
      assert.equal((await rig.inspect()).holders[0]?.token, token)
      await rig.release('a', { mode: 'read', token })
      assert.deepEqual(await rig.holders(), [])
    }),

    engineTest(
      'the token that is shown of a key is its own, and a free key has none',
      async (rig) => {
        const keys = Array.from({ length: MANY_KEYS }, (_, index) => `key-${index}`)
        const tokens = new Map<string, number>()
        for (const key of keys) tokens.set(key, (await rig.grant('a', { key, mode: 'read' })).token)
        for (const key of keys) assert.equal((await rig.inspect(key)).token, tokens.get(key))
        const [key = ''] = keys
        const { token } = await rig.grant('b', { key, mode: 'read' })
        assert.equal((await rig.inspect(key)).token, token)
        const { locks } = await rig.read({ kind: 'list', prefix: 'key-' })
        assert.deepEqual(
          new Map(locks.map((lock) => [lock.key, lock.token])),
          new Map([...tokens, [key, token]]),
        )
        await rig.release('a', { key })
        await rig.release('b', { key })
        assert.equal((await rig.inspect(key)).token, null)
      },
    ),

    engineTest(
      'an idle key that was cleaned up does not start again',
      { needs: 'virtual-time' },
      async (rig) => {
        const tokens: number[] = []
        for (let round = 0; round < 3; round += 1) {
          tokens.push((await rig.grant('a')).token)
          await rig.release('a')
          await rig.advance(ENDED_REMEMBERED_MS * 2)
          await rig.apply({ kind: 'sweep' })
        }
        assertGrowing(tokens)
      },
    ),

    engineTest('tokens of operations grow', async (rig) => {
      const tokens: number[] = []
      for (const node of ['n1', 'n2', 'n3']) {
        tokens.push(asGranted(await rig.begin('build', node)).token)
        await rig.fail('build', node)
      }
      tokens.push(asGranted(await rig.begin('delete', 'n1')).token)
      await rig.succeed('delete', 'n1')
      tokens.push(asGranted(await rig.begin('pull', 'n1')).token)
      assertGrowing(tokens)
      assert.equal((await rig.inspectResource(RESOURCE)).holders[0]?.token, tokens.at(-1))
    }),

    engineTest('the token that a grant names is the one that opens it', async (rig) => {
      await rig.grant('a')
      const wait = await rig.wait('b')
      await rig.release('a')
      const { token } = asGranted(await wait.answer())
      assert.equal((await rig.renew('b', TTL_MS, { token })).kind, 'renewed')
      assert.equal((await rig.release('b', { token })).kind, 'released')
    }),
  ],
}
