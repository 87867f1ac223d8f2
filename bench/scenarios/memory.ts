import type { Mutex } from 'async-mutex'
import { importEmbeddedEngine, importHoldfast } from '../built-package.ts'
import { formatCount } from '../report/format-figures.ts'
import { createKey, createOwner } from '../lock-names.ts'
import { RoundTimer } from '../round-timer.ts'
import type { Contestant, Dose, Sample, Scenario } from '../scenario.ts'

/** Takes a lock and returns whatever a holder has to keep in order to release it, if anything. */
type Hold = (index: number) => Promise<unknown>

interface Holder {
  readonly hold: Hold
  readonly close: () => Promise<void>
}

const CASE = 'held'
const TTL_MS = 3_600_000

async function openEngine(): Promise<Holder> {
  const { openMemoryEngine } = await importEmbeddedEngine()
  const engine = openMemoryEngine()
  const hold: Hold = async (index) => {
    const [key, owner] = [createKey(index), createOwner(index)]
    const outcome = await engine.apply({
      kind: 'acquire',
      key,
      owner,
      requestId: '1',
      ttlMs: TTL_MS,
    })
    if (outcome.kind !== 'granted') throw new Error(`not granted: ${outcome.kind}`)
  }
  return { hold, close: () => engine.close() }
}

async function openLocks(): Promise<Holder> {
  const { connect } = await importHoldfast()
  const locks = await connect('memory:')
  return {
    hold: (index) => locks.acquire(createKey(index), { ttl: TTL_MS }),
    close: () => locks.close(),
  }
}

async function openAsyncMutex(): Promise<Holder> {
  const { Mutex: AsyncMutex } = await import('async-mutex')
  const mutexes = new Map<string, Mutex>()
  const hold: Hold = (index) => {
    const mutex = new AsyncMutex()
    mutexes.set(createKey(index), mutex)
    return mutex.acquire()
  }
  return { hold, close: async () => mutexes.clear() }
}

async function openVerrou(): Promise<Holder> {
  const { Verrou } = await import('@verrou/core')
  const { memoryStore } = await import('@verrou/core/drivers/memory')
  const verrou = new Verrou({ default: 'memory', stores: { memory: { driver: memoryStore() } } })
  const hold: Hold = async (index) => {
    const lock = verrou.createLock(createKey(index), TTL_MS)
    await lock.acquire()
    return lock
  }
  return { hold, close: async () => {} }
}

/** What is alive, wherever it is kept. */
function measureBytes(): number {
  if (globalThis.gc === undefined) throw new Error('run the bench with --expose-gc')
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

async function measure({ hold }: Holder, count: number): Promise<Sample> {
  const kept: unknown[] = []
  const bytesBefore = measureBytes()
  const timer = new RoundTimer(Infinity)
  for (let index = 0; index < count; index += 1) {
    const handle = await hold(index)
    if (handle !== undefined) kept.push(handle)
  }
  timer.operations = count
  const sample = timer.stop()
  const bytes = measureBytes() - bytesBefore
  // Read afterwards, so that the handles are alive while they are measured.
  return { ...sample, counts: { bytes, handles: kept.length } }
}

async function open(opening: Promise<Holder>, count: number): Promise<Contestant> {
  const holder = await opening
  return { measure: () => measure(holder, count), close: () => holder.close() }
}

export function createScenario({ manyHeld }: Dose): Scenario {
  return {
    name: 'memory',
    title: `Memory of ${formatCount(manyHeld)} held locks with keys of 30 bytes and an owner each, leases included. Where the holder needs a handle to release, the handle is kept and counted.`,
    figure: { kind: 'size', operation: 'lock' },
    cases: [CASE],
    measuredOnce: true,
    contestants: {
      'engine alone': () => open(openEngine(), manyHeld),
      'locks.acquire': () => open(openLocks(), manyHeld),
      'async-mutex': () => open(openAsyncMutex(), manyHeld),
      'verrou memory': () => open(openVerrou(), manyHeld),
    },
    ours: ['engine alone', 'locks.acquire'],
    comparisons: [{ caseName: CASE, contestant: 'engine alone', atMost: 300 }],
  }
}
