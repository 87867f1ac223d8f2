import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importEmbeddedEngine, importJournal } from '../built-package.ts'
import { runCycles } from '../cycle-workers.ts'
import { createKeys } from '../lock-names.ts'
import type { Locker } from '../contestants/locker.ts'
import { createEngineLocker } from '../lockers/engine-locker.ts'
import { openWithLockLocker } from '../lockers/with-lock-locker.ts'
import type { Comparison, Contestant, Scenario } from '../scenario.ts'

const DEPTHS: Readonly<Record<string, number>> = {
  'depth 1': 1,
  'depth 64': 64,
  'depth 256': 256,
  'depth 1024': 1024,
}
const KEYS = 1024
const JOURNAL = 'journal alone'

async function openEngineLocker(directory: string): Promise<Locker> {
  const { openFileEngine } = await importEmbeddedEngine()
  return createEngineLocker(await openFileEngine(directory))
}

const KEEPS_NOTHING = {
  restore: () => {},
  replay: () => {},
  snapshot: () => [],
  highest: 0,
  raise: () => {},
}

/**
 * The ceiling: two records of a cycle appended and synced one after the other, and nothing else. They
 * are those that the engine writes, found by reading them back.
 */
async function openJournalLocker(directory: string): Promise<Locker> {
  const [acquired, released] = await readRecordsOfOneCycle(directory)
  if (acquired === undefined || released === undefined) throw new Error('a cycle has two records')
  const { Journal, NodeDisk } = await importJournal()
  const owner = { ...KEEPS_NOTHING, snapshot: () => [acquired] }
  const journal = await Journal.open(await NodeDisk.open(directory), owner)
  return {
    async cycle(_key, run) {
      await journal.append(acquired)
      await run()
      await journal.append(released)
    },
    close: () => journal.close(),
  }
}

async function readRecordsOfOneCycle(directory: string): Promise<Uint8Array[]> {
  const locker = await openEngineLocker(directory)
  const [key] = createKeys(1)
  await locker.cycle(key as string, async () => {})
  await locker.close()
  const { Journal, NodeDisk } = await importJournal()
  const records: Uint8Array[] = []
  const replay = (record: Uint8Array): void => void records.push(record.slice())
  const owner = { ...KEEPS_NOTHING, replay }
  const journal = await Journal.open(await NodeDisk.open(directory), owner)
  await journal.close()
  return records
}

async function open(openLocker: (directory: string) => Promise<Locker>): Promise<Contestant> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
  const locker = await openLocker(directory)
  const keys = createKeys(KEYS)
  return {
    measure: (caseName, durationMs) =>
      runCycles(locker, { keys, concurrency: DEPTHS[caseName] ?? 1, durationMs }),
    close: async () => {
      await locker.close()
      await rm(directory, { recursive: true })
    },
  }
}

function compare(caseName: string): Comparison[] {
  return [
    { caseName, contestant: 'withLock', against: JOURNAL },
    { caseName, contestant: 'engine alone', against: JOURNAL },
  ]
}

export function createScenario(): Scenario {
  const cases = Object.keys(DEPTHS)
  return {
    name: 'durable',
    title:
      'The engine on disk: every acquire and every release is synced before it is answered. The journal alone appends and syncs the same two records.',
    figure: { kind: 'rate', operation: 'cycle' },
    cases,
    contestants: {
      withLock: () => open((directory) => openWithLockLocker(`file:${directory}`)),
      'engine alone': () => open(openEngineLocker),
      [JOURNAL]: () => open(openJournalLocker),
    },
    ours: ['withLock', 'engine alone'],
    comparisons: cases.flatMap(compare),
  }
}
