import type { LockEngine } from '../../src/engine/engine.ts'
import type { Disk, DiskFile } from '../../src/engines/embedded/journal/disk.ts'
import { decide, type Law } from '../../src/law/decide.ts'
import type { OpenedEngine } from '../../src/testing/engine-suite/engine-fixture.ts'
import { Random } from '../../src/testing/random.ts'
import {
  createFileFixture,
  createPowerLossFixture,
} from '../conformance/fixtures/embedded-fixtures.ts'
import { seeing } from './law-surgery.ts'
import type { Mutant, MutantFacts } from './mutant.ts'

/** A disk is slower than memory, so that less patience would blame it for what it does right. */
const STORE_PATIENCE_MS = 2_000

type Damage = (engine: LockEngine, opened: OpenedEngine) => Promise<void>

/** The engine on disk, with something done to it each time that it comes back. */
function damagedMutant(facts: MutantFacts, damage: Damage): Mutant {
  const { open } = createFileFixture()
  return {
    ...facts,
    fixture: {
      name: facts.name,
      patienceMs: STORE_PATIENCE_MS,
      open: async (options) => {
        const opened = await open(options)
        const damaged = (restart: () => Promise<LockEngine>) => async (): Promise<LockEngine> => {
          const engine = await restart()
          await damage(engine, opened)
          return engine
        }
        return {
          engine: opened.engine,
          clock: (opened as Required<OpenedEngine>).clock,
          advance: (ms) => opened.advance(ms),
          reopen: damaged(() => (opened as Required<OpenedEngine>).reopen()),
          crash: damaged(() => (opened as Required<OpenedEngine>).crash()),
          close: () => opened.close(),
        }
      },
    },
  }
}

/** The engine on disk, whose law is another one from the first restart on. */
function forgetfulMutant(facts: MutantFacts, later: Law): Mutant {
  let hasRestarted = false
  const law: Law = (view, command, nowMs) =>
    hasRestarted ? later(view, command, nowMs) : decide(view, command, nowMs)
  const { open } = createFileFixture({ law })
  return {
    ...facts,
    fixture: {
      name: facts.name,
      patienceMs: STORE_PATIENCE_MS,
      open: async (options) => {
        hasRestarted = false
        const opened = await open(options)
        const restarting = (restart: () => Promise<LockEngine>) => (): Promise<LockEngine> => {
          hasRestarted = true
          return restart()
        }
        return {
          engine: opened.engine,
          clock: (opened as Required<OpenedEngine>).clock,
          advance: (ms) => opened.advance(ms),
          reopen: restarting(() => (opened as Required<OpenedEngine>).reopen()),
          crash: restarting(() => (opened as Required<OpenedEngine>).crash()),
          close: () => opened.close(),
        }
      },
    },
  }
}

/** Whatever can be lost is lost. */
class WorstLuck extends Random {
  override chance(): boolean {
    return false
  }

  override pick<Item>(items: readonly Item[]): Item {
    return items[0] as Item
  }
}

/** The engine on a disk that does less than it says, and that loses power when the engine is killed. */
function lyingDiskMutant(facts: MutantFacts, wire: (disk: Disk) => Disk): Mutant {
  const { open } = createPowerLossFixture({ wire, random: new WorstLuck('worst') })
  return { ...facts, fixture: { name: facts.name, patienceMs: STORE_PATIENCE_MS, open } }
}

/** Only the first write of a file, its header, comes to rest. */
function withoutSync(file: DiskFile): DiskFile {
  let writes = 0
  return {
    size: () => file.size(),
    read: (into, position) => file.read(into, position),
    write: async (bytes, position) => {
      await file.write(bytes, position)
      writes += 1
      if (writes === 1) await file.sync()
    },
    sync: async () => {},
    truncate: (size) => file.truncate(size),
    close: () => file.close(),
  }
}

/** Right while it runs, wrong about what it finds when it comes back. */
export const STORE_MUTANTS: readonly Mutant[] = [
  damagedMutant(
    {
      name: 'restart-loses-holds',
      fault: 'a lock that was acknowledged is not there after a crash',
      killedBy: 'restart: holds stand after a crash',
    },
    async (engine) => {
      const { locks } = await engine.read({ kind: 'list' })
      for (const { key, namespace } of locks) await engine.apply({ kind: 'force', key, namespace })
    },
  ),
  damagedMutant(
    {
      name: 'restart-loses-references',
      fault: 'who uses what is kept in memory only',
      killedBy: 'restart: references, successes and their values stand after a restart',
    },
    async (engine) => {
      for (const node of ['n1', 'n2']) await engine.apply({ kind: 'unref', node })
    },
  ),
  damagedMutant(
    {
      name: 'restart-shortens-leases',
      fault: 'the time for which the server was down counts against the leases',
      killedBy: 'restart: a lease is not shortened after a restart',
    },
    (_, opened) => opened.advance(25_000),
  ),
  damagedMutant(
    {
      name: 'restart-undoes-a-release',
      fault: 'what was released before the restart is held again after it',
      killedBy: 'restart: released and expired holds stay ended after a crash',
    },
    async (engine) => {
      await engine.apply({ kind: 'acquire', key: 'k', owner: 'a', requestId: 'undone' })
    },
  ),
  lyingDiskMutant(
    {
      name: 'answered-before-sync',
      fault: 'an answer goes out before what it says is on disk, and the power goes (etcd 14370)',
      killedBy: 'restart: holds stand after a crash',
    },
    (disk) => ({
      list: () => disk.list(),
      create: async (name) => withoutSync(await disk.create(name, 'buffered')),
      open: async (name) => withoutSync(await disk.open(name, 'buffered')),
      rename: (from, to) => disk.rename(from, to),
      remove: (name) => disk.remove(name),
      syncDirectory: () => disk.syncDirectory(),
    }),
  ),
  lyingDiskMutant(
    {
      name: 'directory-not-synced',
      fault: 'a file is synced, but not the directory that names it (etcd 6368)',
      killedBy: 'restart: holds stand after a crash',
    },
    (disk) => ({
      list: () => disk.list(),
      create: (name, mode) => disk.create(name, mode),
      open: (name, mode) => disk.open(name, mode),
      rename: (from, to) => disk.rename(from, to),
      remove: (name) => disk.remove(name),
      syncDirectory: async () => {},
    }),
  ),
  forgetfulMutant(
    {
      name: 'restart-loses-tokens',
      fault: 'the counter of tokens starts again after a restart (MySQL before 8.0)',
      killedBy: 'restart: tokens go on growing after a restart',
    },
    (view, command, nowMs) =>
      decide(view.holdCount === 0 ? seeing(view, { token: 0 }) : view, command, nowMs),
  ),
  forgetfulMutant(
    {
      name: 'restart-forgets-requests',
      fault: 'a copy of a request from before the restart is taken for a new one',
      killedBy: 'restart: a request that held once does not hold again after a crash',
    },
    (view, command, nowMs) => decide(seeing(view, { ended: () => undefined }), command, nowMs),
  ),
  forgetfulMutant(
    {
      name: 'restart-forgets-successes',
      fault: 'everything is pulled again after a restart',
      killedBy: 'restart: references, successes and their values stand after a crash',
    },
    (view, command, nowMs) => decide(seeing(view, { remembered: () => undefined }), command, nowMs),
  ),
]
