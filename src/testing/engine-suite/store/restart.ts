import assert from 'node:assert/strict'
import { asGranted, asQueued, asRefused, assertThrows } from '../answers.ts'
import { type EngineRig, RESOURCE, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, type EngineTest, engineTest } from '../engine-test.ts'

type Restart = (rig: EngineRig) => Promise<void>

const LONG_MS = 10 * TTL_MS

/** What is true after a restart, whichever way it came about. */
interface Fact {
  readonly title: string
  run(rig: EngineRig, restart: Restart): Promise<void>
}

function fact(title: string, run: Fact['run']): Fact {
  return { title, run }
}

const FACTS: readonly Fact[] = [
  fact('holds stand', async (rig, restart) => {
    const { token } = await rig.grant('a', { ttlMs: LONG_MS, meta: '{"host":"h"}' })
    await rig.grant('a', { ttlMs: LONG_MS })
    await rig.grant('r1', { key: 'shared', mode: 'read', ttlMs: LONG_MS })
    await rig.grant('r2', { key: 'shared', mode: 'read', ttlMs: LONG_MS })
    await restart(rig)
    const holder = (await rig.inspect()).holders[0]
    assert.deepEqual(
      [holder?.owner, holder?.token, holder?.reads, holder?.writes, holder?.meta],
      ['a', token, 0, 2, '{"host":"h"}'],
    )
    assert.deepEqual((await rig.holders('shared')).toSorted(), ['r1', 'r2'])
    await rig.refuse('b', 'held')
    await rig.release('a', { token })
    assert.deepEqual(await rig.release('a', { token }), { kind: 'released', reads: 0, writes: 0 })
  }),

  fact('released and expired holds stay ended', async (rig, restart) => {
    await rig.grant('a', { ttlMs: LONG_MS })
    await rig.release('a')
    await rig.grant('b', { key: 'other', ttlMs: TTL_MS })
    await rig.advance(1.5 * TTL_MS)
    assert.deepEqual(await rig.holders('other'), [])
    await restart(rig)
    assert.deepEqual(await rig.holders(), [])
    await rig.grant('c', { key: 'other' })
    asRefused(await rig.release('a'), 'not_holder')
  }),

  fact('tokens go on growing', async (rig, restart) => {
    const held = await rig.grant('a', { key: 'held', ttlMs: LONG_MS })
    const freed = await rig.grant('a', { key: 'freed' })
    await rig.release('a', { key: 'freed' })
    await restart(rig)
    assert.equal((await rig.inspect('held')).token, held.token)
    await rig.release('a', { key: 'held' })
    assert.ok((await rig.grant('b', { key: 'held' })).token > held.token)
    assert.ok((await rig.grant('b', { key: 'freed' })).token > freed.token)
  }),

  fact('a lease is not shortened', async (rig, restart) => {
    await rig.grant('a', { ttlMs: 4 * TTL_MS })
    await rig.advance(TTL_MS)
    await restart(rig)
    const left = (await rig.inspect()).holders[0]?.leaseMs ?? 0
    assert.ok(
      left >= rig.ms(2.5 * TTL_MS),
      `${left} ms are left of a lease of ${rig.ms(4 * TTL_MS)} ms`,
    )
    await rig.advance(2 * TTL_MS)
    assert.deepEqual(await rig.holders(), ['a'])
    await rig.advance(3 * TTL_MS)
    assert.deepEqual(await rig.holders(), [])
  }),

  fact('a renewed lease is not shortened', async (rig, restart) => {
    await rig.grant('a', { ttlMs: TTL_MS })
    await rig.renew('a', 6 * TTL_MS)
    await rig.advance(TTL_MS)
    await restart(rig)
    await rig.advance(3 * TTL_MS)
    assert.deepEqual(await rig.holders(), ['a'])
  }),

  fact('an upgraded and a downgraded hold are as they were', async (rig, restart) => {
    await rig.grant('a', { key: 'up', mode: 'read', ttlMs: LONG_MS })
    const up = await rig.grant('a', { key: 'up', ttlMs: LONG_MS })
    await rig.grant('a', { key: 'down', ttlMs: LONG_MS })
    await rig.grant('a', { key: 'down', mode: 'read', ttlMs: LONG_MS })
    await rig.release('a', { key: 'down', mode: 'write' })
    await restart(rig)
    const upgraded = (await rig.inspect('up')).holders[0]
    assert.deepEqual([upgraded?.token, upgraded?.reads, upgraded?.writes], [up.token, 1, 1])
    await rig.grant('b', { key: 'down', mode: 'read' })
    await rig.refuse('c', 'held', { key: 'up', mode: 'read' })
  }),

  fact('a request that held once does not hold again', async (rig, restart) => {
    await rig.grant('a', { requestId: '1' })
    await rig.release('a', { requestId: 'r' })
    const standing = await rig.grant('b', { key: 'other', requestId: '2', ttlMs: LONG_MS })
    await restart(rig)
    await rig.refuse('a', 'ended', { requestId: '1' })
    assert.equal((await rig.release('a', { requestId: 'r' })).kind, 'released')
    const again = await rig.grant('b', { key: 'other', requestId: '2', ttlMs: LONG_MS })
    assert.deepEqual([again.token, again.writes], [standing.token, 1])
  }),

  fact('an upgrade that nobody heard of gives its token back', async (rig, restart) => {
    const { token } = await rig.grant('a', { mode: 'read', ttlMs: LONG_MS })
    await rig.grant('b', { mode: 'read' })
    await rig.queue('a', { requestId: 'up', ttlMs: LONG_MS })
    await rig.release('b')
    const undone = (await rig.inspect()).holders[0]?.token ?? Infinity
    await restart(rig)
    await rig.cancel('a', 'up')
    assert.equal((await rig.inspect()).holders[0]?.token, token)
    await restart(rig)
    assert.equal((await rig.release('a', { token })).kind, 'released')
    assert.ok((await rig.grant('a')).token > undone)
  }),

  fact('who joined a running operation does not run it again', async (rig, restart) => {
    asGranted(await rig.begin('pull', 'n1', { ttlMs: LONG_MS }))
    asGranted(await rig.begin('pull', 'n1', { requestId: 'joined', ttlMs: LONG_MS }))
    await restart(rig)
    await rig.fail('pull', 'n1')
    asRefused(await rig.begin('pull', 'n1', { requestId: 'joined' }), 'ended')
  }),

  fact('references, successes and their values stand', async (rig, restart) => {
    await rig.complete('pull', 'n1', { value: '"v"', version: '1' })
    await rig.begin('pull', 'n2', { version: '1' })
    await rig.begin('pull', 'n3', { version: '1' })
    await rig.unref('n3', RESOURCE)
    await restart(rig)
    assert.deepEqual(await rig.references(), ['n1', 'n2'])
    asRefused(await rig.begin('delete', 'n4'), 'in_use')
    assert.deepEqual(await rig.begin('pull', 'n4', { version: '1' }), {
      kind: 'skip',
      value: '"v"',
    })
    asGranted(await rig.begin('pull', 'n4', { version: '2' }))
  }),

  fact(
    'a reference that was not claimed is lost after its time, and one that was is kept',
    async (rig, restart) => {
      asGranted(await rig.begin('pull', 'n1'))
      for (const node of ['n2', 'n3']) asQueued(await rig.begin('pull', node))
      await rig.succeed('pull', 'n1')
      assert.equal((await rig.begin('pull', 'n3')).kind, 'skip')
      await restart(rig)
      assert.deepEqual(await rig.references(), ['n1', 'n2', 'n3'])
      await rig.advance(2 * LONG_MS)
      assert.deepEqual(await rig.references(), ['n1', 'n3'])
    },
  ),

  fact('what was deleted stays deleted', async (rig, restart) => {
    await rig.complete('pull', 'n1')
    await rig.unref('n1', RESOURCE)
    await rig.complete('delete', 'n2')
    await restart(rig)
    assert.deepEqual(await rig.references(), [])
    assert.equal((await rig.begin('delete', 'n3')).kind, 'skip')
    asGranted(await rig.begin('pull', 'n3'))
  }),

  fact('a running operation goes on', async (rig, restart) => {
    const { token } = asGranted(await rig.begin('update', 'n1', { version: '3', ttlMs: LONG_MS }))
    await restart(rig)
    const holder = (await rig.inspectResource()).holders[0]
    assert.deepEqual(
      [holder?.type, holder?.node, holder?.version, holder?.token],
      ['update', 'n1', '3', token],
    )
    assert.equal((await rig.succeed('update', 'n1', { token })).kind, 'finished')
    assert.equal((await rig.begin('update', 'n2', { version: '3' })).kind, 'skip')
  }),

  fact('waiters come back by asking again', async (rig, restart) => {
    await rig.grant('a', { ttlMs: LONG_MS })
    await rig.queue('b', { requestId: '1' })
    await restart(rig)
    const back = await rig.wait('b', { requestId: '1' })
    assert.equal((await rig.inspect()).queueLength, 1)
    await rig.release('a')
    asGranted(await back.answer())
    assert.deepEqual(await rig.release('b'), { kind: 'released', reads: 0, writes: 0 })
  }),

  fact('a session and what it holds can be resumed or run out', async (rig, restart) => {
    await rig.openSession('s', TTL_MS)
    await rig.openSession('t', TTL_MS)
    await rig.grant('a', { session: 's', ttlMs: 3 * TTL_MS })
    await rig.grant('b', { key: 'other', session: 't', ttlMs: 3 * TTL_MS })
    await rig.advance(2 * TTL_MS)
    await restart(rig)
    assert.deepEqual(await rig.holders(), ['a'])
    const opened = await rig.openSession('s', TTL_MS)
    assert.deepEqual(opened, { kind: 'session-opened', resumed: true })
    await rig.advance(2.5 * TTL_MS)
    await rig.apply({ kind: 'touch-session', session: 's' })
    await rig.advance(1.5 * TTL_MS)
    assert.deepEqual(await rig.holders(), ['a'])
    assert.deepEqual(await rig.holders('other'), [])
  }),

  fact('a stream session that its client does not resume ends', async (rig, restart) => {
    await rig.openSession('s', 2 * TTL_MS, false)
    await rig.grant('a', { session: 's', ttlMs: 20 * TTL_MS })
    await restart(rig)
    assert.deepEqual(await rig.holders(), ['a'])
    await rig.advance(3 * TTL_MS)
    assert.deepEqual(await rig.holders(), [])
  }),

  fact('a second restart changes nothing', async (rig, restart) => {
    const { token } = await rig.grant('a', { ttlMs: LONG_MS })
    await rig.complete('pull', 'n1')
    await restart(rig)
    await rig.renew('a', LONG_MS)
    await restart(rig)
    await restart(rig)
    assert.equal((await rig.inspect()).holders[0]?.token, token)
    assert.deepEqual(await rig.references(), ['n1'])
  }),
]

function createTests(after: string, restart: Restart): EngineTest[] {
  return FACTS.map(({ title, run }) =>
    engineTest(`${title} ${after}`, { needs: 'durable' }, (rig) => run(rig, restart)),
  )
}

/** Everything that was acknowledged survives, whether the engine was closed or killed. */
export const restartSuite: EngineSuite = {
  name: 'restart',
  tests: [
    ...createTests('after a restart', (rig) => rig.reopen()),
    ...createTests('after a crash', (rig) => rig.crash()),

    engineTest(
      'a queue that is promised to survive is as it was',
      { needs: 'durable-queue' },
      async (rig) => {
        await rig.grant('a', { ttlMs: LONG_MS })
        await rig.queue('b')
        await rig.queue('c')
        await rig.crash()
        assert.deepEqual(await rig.waiters(), ['b', 'c'])
      },
    ),

    engineTest('a closed engine refuses everything and can be closed again', async (rig) => {
      await rig.grant('a')
      const wait = await rig.wait('b')
      asGranted(await rig.begin('pull', 'n1'))
      const begin = await rig.waitToBegin('pull', 'n2')
      await rig.engine.close()
      await assertThrows(() => wait.answer(), 'LOCK_ENGINE_CLOSED')
      await assertThrows(() => begin.answer(), 'LOCK_ENGINE_CLOSED')
      await assertThrows(() => rig.acquire('c'), 'LOCK_ENGINE_CLOSED')
      await assertThrows(() => rig.inspect(), 'LOCK_ENGINE_CLOSED')
      await assertThrows(() => rig.engine.watch({}, () => {}), 'LOCK_ENGINE_CLOSED')
      await rig.engine.close()
    }),
  ],
}
