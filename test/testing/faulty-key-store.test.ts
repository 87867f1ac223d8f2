import { beforeEach, describe, expect, it } from 'vitest'
import type {
  CommitResult,
  CommittedKeys,
  KeyStore,
  KeyWrite,
  LoadedKey,
} from '../../src/engines/store/key-store.ts'
import { MemoryKeyStore } from '../../src/engines/store/memory-key-store.ts'
import { FaultyKeyStore, type StoreFault } from '../../src/testing/faulty-key-store.ts'
import { KEY_STORE_SUITES, runKeyStoreTest } from '../../src/testing/key-store-suite/index.ts'
import { Random } from '../../src/testing/random.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { createMemoryFixture } from '../engines/store/memory-fixture.ts'

const NAME = { space: 'lock', name: 'k' } as const
const DELAY_MS_MAX = 500

let clock: VirtualClock
let memory: MemoryKeyStore
let plain: KeyStore

beforeEach(() => {
  clock = new VirtualClock({ nowMs: 1_000_000 })
  memory = new MemoryKeyStore({ clock })
  plain = memory.connect('plain')
})

interface Chance {
  readonly seed?: number
  readonly rates?: Readonly<Partial<Record<StoreFault, number>>>
}

function connect(process: string, { seed = 1, rates }: Chance = {}): FaultyKeyStore {
  return new FaultyKeyStore({
    store: memory.connect(process),
    rival: memory.connect(`rival of ${process}`),
    clock,
    stepClock: (ms) => memory.stepClock(ms),
    random: new Random(seed),
    rates,
  })
}

async function load(store: KeyStore = plain): Promise<LoadedKey> {
  return (await store.load([{ name: NAME }])).keys[0] as LoadedKey
}

async function send(store: KeyStore, fields: Partial<KeyWrite> = {}): Promise<CommittedKeys> {
  const { nowMs, keys } = await plain.load([{ name: NAME }])
  const expected = keys[0]?.version ?? ''
  const write = { kind: 'write', name: NAME, expected, head: 'new', ...fields } as const
  return store.commit([write], { atMs: nowMs })
}

async function write(store: KeyStore, fields: Partial<KeyWrite> = {}): Promise<CommitResult> {
  return (await send(store, fields)).results[0] as CommitResult
}

describe('a faulty key store', () => {
  it('that nothing happens to is a right store', async () => {
    const fixture = createMemoryFixture({
      name: 'a store without faults',
      plant: ({ clock, memory }) => ({
        wrap: (store) =>
          new FaultyKeyStore({
            ...{ store, clock, rival: memory.connect('rival'), random: new Random(1) },
            stepClock: (ms) => memory.stepClock(ms),
          }),
      }),
    })
    for (const { tests } of KEY_STORE_SUITES) {
      for (const test of tests) await runKeyStoreTest(fixture, test)
    }
  })

  it('lets another process write first, and changes nothing else of the key', async () => {
    const parts = [{ group: 'wait', id: '0', body: 'w' }]
    await write(plain, { head: 'old', puts: parts })
    const before = await load()
    const store = connect('p')
    store.order('conflict')
    expect(await write(store)).toMatchObject({ kind: 'conflict', key: { head: 'old', parts } })
    expect((await load()).version).not.toBe(before.version)
    expect(await write(store)).toMatchObject({ kind: 'committed' })
    expect(store.injected).toEqual({ conflict: 1 })
  })

  it('lets another process take the turn, until it runs out', async () => {
    await write(plain, { head: 'old' })
    const before = await load()
    const store = connect('p')
    store.order('stolen-turn')
    expect(await write(store)).toEqual({ kind: 'other-turn', key: before })
    expect(await load()).toEqual(before)
    await clock.advance(100)
    expect(await write(store)).toMatchObject({ kind: 'committed' })
    expect(store.injected).toEqual({ 'stolen-turn': 1 })
  })

  it.each(['conflict', 'stolen-turn'] as const)(
    'keeps a %s for a key that is present',
    async (fault) => {
      const store = connect('p')
      store.order(fault)
      expect(await write(store)).toMatchObject({ kind: 'committed' })
      expect(store.injected).toEqual({})
      expect(await write(store)).not.toMatchObject({ kind: 'committed' })
      expect(store.injected).toEqual({ [fault]: 1 })
    },
  )

  it.each(['conflict', 'stolen-turn'] as const)(
    'brings no %s on a process in its turn',
    async (fault) => {
      await write(plain)
      const store = connect('p')
      const { nowMs } = await plain.load([])
      const stale = { kind: 'check', name: NAME, expected: 'x' } as const
      await store.commit([stale], { atMs: nowMs, turn: true })
      store.order(fault)
      expect(await write(store)).toMatchObject({ kind: 'committed' })
      expect(store.injected).toEqual({})
    },
  )

  it('sets the clock of the store', async () => {
    const store = connect('p', { seed: 3 })
    const before = (await plain.load([])).nowMs
    store.order('clock-step')
    store.order('clock-step')
    store.order('clock-step')
    const kinds = [await write(store), await write(store), await write(store)].map(
      ({ kind }) => kind,
    )
    expect(kinds).toContain('clock')
    expect((await plain.load([])).nowMs).toBeGreaterThanOrEqual(before + 1_500)
    expect(store.injected).toEqual({ 'clock-step': 3 })
  })

  it('delays a request before it takes effect, and an answer after that', async () => {
    for (const [fault, isApplied] of [
      ['late-request', false],
      ['late-answer', true],
    ] as const) {
      const store = connect(fault)
      const { version } = await load()
      store.order(fault)
      let answer: CommitResult | undefined
      const answered = write(store, { head: fault }).then((result) => {
        answer = result
      })
      await clock.settle()
      expect(answer).toBeUndefined()
      expect((await load()).version !== version).toBe(isApplied)
      await clock.advance(DELAY_MS_MAX)
      await answered
      expect(answer).toMatchObject({ kind: 'committed' })
      expect((await load()).head).toBe(fault)
    }
  })

  it.each([
    { fault: 'refused', applied: 'no', now: 'old', later: 'old' },
    { fault: 'lost-request', applied: 'maybe', now: 'old', later: 'old' },
    { fault: 'lost-answer', applied: 'maybe', now: 'new', later: 'new' },
    { fault: 'stray-request', applied: 'maybe', now: 'old', later: 'new' },
  ] as const)('$fault rejects with $applied: $now, then $later', async ({ fault, ...told }) => {
    const { applied, now, later } = told
    await write(plain, { head: 'old' })
    const store = connect('p')
    store.order(fault)
    const failure = { code: 'LOCK_ENGINE_UNAVAILABLE', applied }
    await expect(send(store)).rejects.toMatchObject(failure)
    expect((await load()).head).toBe(now)
    await clock.advance(DELAY_MS_MAX)
    expect((await load()).head).toBe(later)
    expect(await write(store, { head: 'next' })).toMatchObject({ kind: 'committed' })
    expect(store.injected).toEqual({ [fault]: 1 })
  })

  it('lets a load fail, or tell later what it found at once', async () => {
    await write(plain, { head: 'old' })
    const store = connect('p')
    store.order('failed-load')
    store.order('late-load')
    await expect(load(store)).rejects.toMatchObject({ applied: 'no' })
    const found = load(store)
    await clock.settle()
    await write(plain)
    await clock.advance(DELAY_MS_MAX)
    expect((await found).head).toBe('old')
    expect((await load(store)).head).toBe('new')
  })

  it('says that notices and events may be lost in place of telling them', async () => {
    const store = connect('p')
    const told: unknown[] = []
    await store.listen((notice) => told.push(notice?.head))
    await store.watch((events) => told.push(events))
    store.order('lost-notice')
    store.order('lost-events')
    for (const head of ['one', 'two']) {
      await write(plain, { head, events: [head], notify: ['p'] })
      await write(plain, { head: `${head} again`, events: [], notify: ['p'] })
      await clock.settle()
    }
    expect(told).toContainEqual('two')
    expect(told.filter((one) => one === undefined)).toHaveLength(2)
    expect(store.injected).toEqual({ 'lost-notice': 1, 'lost-events': 1 })
  })

  it('closes without waiting for what it delays', async () => {
    const store = connect('p')
    store.order('late-request')
    const late = write(store).catch((error: unknown) => error)
    await clock.settle()
    await store.close()
    expect(await late).toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
    expect(clock.pendingTimers).toBe(0)
  })

  it('does the same again for the same seed, and nothing more when it is healed', async () => {
    const rates = { refused: 0.2, 'lost-answer': 0.2, conflict: 0.2 }
    const runs: unknown[] = []
    for (const process of ['one', 'two']) {
      const store = connect(process, { seed: 7, rates })
      const kinds: string[] = []
      for (let step = 0; step < 30; step += 1) {
        kinds.push(
          await write(store).then(
            ({ kind }) => kind,
            () => 'failed',
          ),
        )
      }
      runs.push(kinds)
      const before = store.injected
      expect(Object.keys(before).toSorted()).toEqual(Object.keys(rates).toSorted())
      store.heal()
      for (let step = 0; step < 30; step += 1) {
        expect(await write(store)).toMatchObject({ kind: 'committed' })
      }
      expect(store.injected).toEqual(before)
    }
    // The first commit of all finds no key to write over.
    expect((runs[0] as string[]).slice(1)).toEqual((runs[1] as string[]).slice(1))
  })
})

/** Adds one; says whether it has, has not, or may have. */
async function increment(store: KeyStore): Promise<'yes' | 'no' | 'maybe'> {
  try {
    const { nowMs, keys } = await store.load([{ name: NAME }])
    const [{ version, head }] = keys as readonly [LoadedKey]
    const next = String(Number(head ?? 0) + 1)
    const change = { kind: 'write', name: NAME, expected: version, head: next } as const
    const { results } = await store.commit([change], { atMs: nowMs, turn: true })
    return results[0]?.kind === 'committed' ? 'yes' : 'no'
  } catch (error) {
    return (error as { applied: 'no' | 'maybe' }).applied
  }
}

it.each([1, 2, 3, 4, 5])(
  'no fault makes a right store lose a commit, or apply one twice (seed %i)',
  async (seed) => {
    const names = ['conflict', 'stolen-turn', 'clock-step', 'late-request', 'late-answer'] as const
    const lost = ['refused', 'lost-request', 'lost-answer', 'stray-request', 'late-load'] as const
    const rates = Object.fromEntries([...names, ...lost, 'failed-load'].map((name) => [name, 0.05]))
    const stores = ['p', 'q', 'r'].map((name, index) =>
      connect(name, { seed: seed * 10 + index, rates }),
    )
    const counts = { yes: 0, no: 0, maybe: 0 }
    const work = Promise.all(
      stores.map(async (store) => {
        for (let round = 0; round < 60; round += 1) counts[await increment(store)] += 1
      }),
    )
    let isDone = false
    void work.then(() => {
      isDone = true
    })
    while (!isDone) await clock.advance(20)
    await clock.advance(DELAY_MS_MAX)
    const head = Number((await load()).head)
    expect(head).toBeGreaterThanOrEqual(counts.yes)
    expect(head).toBeLessThanOrEqual(counts.yes + counts.maybe)
    expect(counts.maybe).toBeGreaterThan(0)
  },
)
