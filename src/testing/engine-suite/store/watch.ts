import assert from 'node:assert/strict'
import type { WatchEvent, WatchFilter } from '../../../engine/engine.ts'
import type { EventCount } from '../../../engine/queries.ts'
import type { EventKind, LawEvent } from '../../../law/model/events.ts'
import { asGranted } from '../answers.ts'
import { type EngineRig, KEY, RESOURCE, TTL_MS } from '../engine-rig.ts'
import { type EngineSuite, engineTest } from '../engine-test.ts'

type KeyEvent = Extract<WatchEvent, LawEvent>

/** What a watcher was told so far. */
class Watcher {
  readonly events: WatchEvent[] = []
  readonly #rig: EngineRig
  #close: () => Promise<void> = async () => {}

  constructor(rig: EngineRig) {
    this.#rig = rig
  }

  static async on(rig: EngineRig, filter: WatchFilter = {}): Promise<Watcher> {
    const watcher = new Watcher(rig)
    const watching = await rig.engine.watch(filter, (event) => watcher.events.push(event))
    watcher.#close = () => watching.close()
    return watcher
  }

  get onKeys(): KeyEvent[] {
    return this.events.filter((event) => event.kind !== 'reset')
  }

  /** Each event as `kind owner`. */
  get told(): string[] {
    return this.onKeys.map(({ kind, owner }) => `${kind} ${owner}`)
  }

  find(kind: EventKind, owner: string): KeyEvent | undefined {
    return this.onKeys.find((event) => event.kind === kind && event.owner === owner)
  }

  /** The event, once it has been told. */
  async heard(kind: EventKind, owner: string): Promise<KeyEvent> {
    const what = `${kind} ${owner} is told`
    await this.#rig.patience.until(() => this.find(kind, owner) !== undefined, what)
    return this.find(kind, owner) as KeyEvent
  }

  close(): Promise<void> {
    return this.#close()
  }
}

/** A wait, a refusal, an expiry and an operation; in the end `b` holds. */
async function takePart(rig: EngineRig): Promise<void> {
  await rig.grant('z', { key: 'short' })
  await rig.advance(2 * TTL_MS)
  await rig.complete('pull', 'n1')
  await rig.grant('a')
  const wait = await rig.wait('b')
  await rig.refuse('c', 'held')
  await rig.release('a')
  asGranted(await wait.answer())
}

/** Those who watch are told of every change, once, in the order in which it happened on its key. */
export const watchSuite: EngineSuite = {
  name: 'watch',
  tests: [
    engineTest('grants, waits and releases are told in order', async (rig) => {
      const watcher = await Watcher.on(rig)
      const { token } = await rig.grant('a', { requestId: '1' })
      const wait = await rig.wait('b', { requestId: '2' })
      await rig.release('a')
      const granted = asGranted(await wait.answer())
      await rig.release('b')
      await watcher.heard('released', 'b')
      assert.deepEqual(watcher.told, [
        'granted a',
        'queued b',
        'released a',
        'granted b',
        'released b',
      ])
      const first = watcher.find('granted', 'a')
      assert.deepEqual(
        [first?.namespace, first?.key, first?.requestId, first?.mode, first?.token],
        ['lock', KEY, '1', 'write', token],
      )
      assert.equal(watcher.find('granted', 'b')?.token, granted.token)
    }),

    engineTest('event ids grow', async (rig) => {
      const watcher = await Watcher.on(rig)
      for (let round = 0; round < 10; round += 1) {
        await rig.grant('a', { key: `key-${round}` })
        await rig.release('a', { key: `key-${round}` })
      }
      await rig.patience.until(() => watcher.events.length >= 20, 'every event is told')
      const ids = watcher.events.map(({ id }) => id)
      assert.deepEqual(
        ids,
        [...new Set(ids)].toSorted((one, other) => one - other),
      )
    }),

    engineTest('an expiry is told', async (rig) => {
      const watcher = await Watcher.on(rig)
      const { token } = await rig.grant('a')
      await rig.advance(1.5 * TTL_MS)
      const expired = await watcher.heard('expired', 'a')
      assert.deepEqual([expired.token, expired.end], [token, 'expired'])
    }),

    engineTest('refusals and cancels are told', async (rig) => {
      const watcher = await Watcher.on(rig)
      await rig.grant('a')
      await rig.refuse('b', 'held')
      assert.equal((await watcher.heard('refused', 'b')).code, 'held')
      const wait = await rig.wait('c')
      await rig.cancel('c', wait.requestId)
      assert.equal((await watcher.heard('cancelled', 'c')).code, 'cancelled')
    }),

    engineTest('the deeds of operators and sessions are told', async (rig) => {
      const watcher = await Watcher.on(rig)
      await rig.openSession('s', TTL_MS)
      await rig.grant('a', { session: 's' })
      await rig.apply({ kind: 'close-session', session: 's' })
      await watcher.heard('disconnected', 'a')
      await rig.grant('b')
      await rig.apply({ kind: 'force', key: KEY })
      await watcher.heard('forced', 'b')
    }),

    engineTest('the end of an operation is told with all that it left', async (rig) => {
      const watcher = await Watcher.on(rig, { namespace: 'operation' })
      await rig.complete('pull', 'n1', { value: '"v"' })
      const done = await watcher.heard('completed', 'pull:n1')
      assert.deepEqual(
        [done.key, done.type, done.node, done.success, done.value],
        [RESOURCE, 'pull', 'n1', true, '"v"'],
      )
      asGranted(await rig.begin('build', 'n2'))
      await rig.fail('build', 'n2', { error: 'disk full' })
      const failed = await watcher.heard('completed', 'build:n2')
      assert.deepEqual([failed.success, failed.error], [false, 'disk full'])
    }),

    engineTest('a watcher hears only of what it asked for', async (rig) => {
      const byPrefix = await Watcher.on(rig, { prefix: 'team1/' })
      const locks = await Watcher.on(rig, { namespace: 'lock' })
      await rig.grant('a', { key: 'team1/x' })
      await rig.grant('b', { key: 'team10/x' })
      asGranted(await rig.begin('pull', 'n1', { resource: 'team1/y' }))
      await rig.grant('c', { key: 'team1/z' })
      await byPrefix.heard('granted', 'c')
      await locks.heard('granted', 'c')
      assert.deepEqual(byPrefix.told, ['granted a', 'granted pull:n1', 'granted c'])
      assert.deepEqual(locks.told, ['granted a', 'granted b', 'granted c'])
    }),

    engineTest('who stops watching hears no more', async (rig) => {
      const stopped = await Watcher.on(rig)
      const other = await Watcher.on(rig)
      await rig.grant('a')
      await stopped.heard('granted', 'a')
      await stopped.close()
      await stopped.close()
      await rig.release('a')
      await other.heard('released', 'a')
      assert.deepEqual(stopped.told, ['granted a'])
    }),

    engineTest('what is told is counted, with and without a watcher', async (rig) => {
      const { capabilities, session } = rig.engine
      const watcher = await Watcher.on(rig)
      await takePart(rig)
      const { events: watched } = await rig.stats()
      if (watched === undefined) {
        assert.ok(capabilities.shared || session !== undefined, 'an engine of its own counts')
        return
      }
      for (const namespace of ['lock', 'operation'] as const) {
        const told = new Map<string, number>()
        for (const event of watcher.onKeys) {
          if (event.namespace === namespace) told.set(event.kind, (told.get(event.kind) ?? 0) + 1)
        }
        const { refusals: _, ...counts }: EventCount = watched[namespace]
        const counted = Object.entries(counts).filter(([, count]) => count > 0)
        assert.deepEqual(new Map(counted), told)
      }
      assert.deepEqual([watched.lock.refusals, watched.operation.refusals], [{ held: 1 }, {}])
      await watcher.close()
      await rig.refuse('c', 'held')
      assert.deepEqual((await rig.stats()).events?.lock.refusals, { held: 2 })
    }),

    engineTest('events on a key tell the same story as its state', async (rig) => {
      const watcher = await Watcher.on(rig)
      const owners = ['a', 'b', 'c', 'd', 'e']
      await Promise.all(
        owners.map(async (owner) => {
          for (let round = 0; round < 5; round += 1) {
            asGranted(await rig.acquire(owner, { waitMs: Infinity }))
            await rig.release(owner)
          }
        }),
      )
      const count = (kind: string): number =>
        watcher.events.filter((event) => event.kind === kind).length
      await rig.patience.until(() => count('released') === 25, 'every release is told')
      assert.equal(count('granted'), 25)
      let holder: string | null = null
      let token = 0
      for (const event of watcher.onKeys) {
        if (event.kind === 'granted') {
          assert.equal(holder, null, `${event.owner} was granted while ${holder} held`)
          assert.ok((event.token ?? 0) > token, 'tokens grow in the order of events')
          holder = event.owner
          token = event.token ?? 0
        } else if (event.kind === 'released') {
          assert.equal(event.owner, holder)
          holder = null
        }
      }
    }),
  ],
}
