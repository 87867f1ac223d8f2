import { access } from 'node:fs/promises'
import type { Capabilities } from '../../engine/capabilities.ts'
import type { LockEngine } from '../../engine/engine.ts'
import { toInvalidArgument } from '../../engine/errors/engine-errors.ts'
import { isLockError } from '../../engine/errors/errors.ts'
import { decide, type Law } from '../../law/decide.ts'
import { TTL_MS_MIN } from '../../engine/validation/limits.ts'
import { DEFAULT_SETTINGS } from '../../engine/validation/default-settings.ts'
import type { LawSettings } from '../../law/model/settings.ts'
import { type Problem, problemWithSettings } from '../../engine/validation/validate.ts'
import type { Clock } from '../../time/clock.ts'
import { SystemClock } from '../../time/system-clock.ts'
import { HoldHistory } from './history/hold-history.ts'
import { claimDirectory } from './journal/owner/claim-directory.ts'
import type { Disk } from './journal/disk.ts'
import { nameDirectory, toDirectoryUnusable } from './journal/journal-errors.ts'
import { Journal, type JournalOptions } from './journal/journal.ts'
import { NodeDisk } from './journal/node-disk.ts'
import { type Repair, repairJournal } from './journal/repair.ts'
import { LockTable } from './table/lock-table.ts'
import { RecoveryClock } from './recovery-clock.ts'
import { TableEngine } from './table-engine.ts'
import { TableStore } from './table-store.ts'

/** As many as the lock servers in the field have; a power of two is not needed. */
const SHARDS_DEFAULT = 32
/** More would cost memory for nothing: each shard has maps of its own. */
const SHARDS_MAX = 4096

export interface EmbeddedOptions {
  readonly settings?: Partial<LawSettings> | undefined
  readonly shards?: number | undefined
  readonly clock?: Clock | undefined
  /** Keep the ends of holds for `history` queries. Off by default, and then it costs nothing. */
  readonly history?: boolean | undefined
  /** The law to apply: for tests that show that a wrong one is noticed. */
  readonly law?: Law | undefined
}

export interface StoredOptions extends EmbeddedOptions {
  readonly journal?: JournalOptions | undefined
}

/** An engine that lives and dies with the process. */
export function openMemoryEngine(options: EmbeddedOptions = {}): LockEngine {
  const table = createTable(options)
  const clock = options.clock ?? new SystemClock()
  const history = options.history === true ? new HoldHistory(clock) : undefined
  const capabilities = capabilitiesOf(table, { durable: false, history: history !== undefined })
  return new TableEngine({ table, clock, capabilities, history })
}

/**
 * An engine whose state is kept in a directory. One process owns the directory; a second one is refused.
 * Everything that was acknowledged before is there when the promise resolves, every lease at full length.
 */
export async function openFileEngine(
  directory: string,
  options: StoredOptions = {},
): Promise<LockEngine> {
  try {
    const disk = await NodeDisk.open(directory)
    const claim = await claimDirectory(directory)
    try {
      return await openStoredEngine(disk, options, () => claim.release())
    } catch (error) {
      await claim.release()
      throw error
    }
  } catch (error) {
    if (isLockError(error, 'LOCK_STORAGE_DAMAGED')) throw nameDirectory(error, directory)
    throw isLockError(error) ? error : toDirectoryUnusable(error, directory)
  }
}

/** The same on any disk; who owns it is the caller's business. */
export async function openStoredEngine(
  disk: Disk,
  options: StoredOptions,
  onClosed?: () => Promise<void>,
): Promise<LockEngine> {
  const table = createTable(options)
  const clock = new RecoveryClock(options.clock ?? new SystemClock())
  const store = new TableStore(table, () => Math.floor(clock.nowMs()))
  const journal = await Journal.open(disk, store, options.journal)
  const history = options.history === true ? await HoldHistory.open(disk, clock) : undefined
  clock.start()
  const capabilities = capabilitiesOf(table, { durable: true, history: history !== undefined })
  const readDurable = async (): Promise<LockTable> => {
    const copy = createTable(options)
    await journal.readDurable(new TableStore(copy, () => Math.floor(clock.nowMs())))
    return copy
  }
  const storage = { journal, store, clock, readDurable }
  return new TableEngine({ table, clock, capabilities, storage, history, onClosed })
}

/** What a repair of a data directory did, and what it kept. */
export interface DirectoryRepair {
  readonly repair: Repair
  /** How many holds and sessions there are now. */
  readonly holds: number
  readonly sessions: number
}

/**
 * Makes the data directory of a stopped engine usable again after damage, at the price of what cannot be read;
 * `repairJournal` says how. An intact one stays as it is.
 */
export async function repairDirectory(directory: string): Promise<DirectoryRepair> {
  let table = createTable({})
  const createStore = (): TableStore => {
    table = createTable({})
    return new TableStore(table, () => 0)
  }
  try {
    await access(directory)
    const disk = await NodeDisk.open(directory)
    const claim = await claimDirectory(directory)
    try {
      const repair = await repairJournal(disk, createStore)
      return { repair, holds: table.holdCount, sessions: table.sessions.size }
    } finally {
      await claim.release()
    }
  } catch (error) {
    throw isLockError(error) ? error : toDirectoryUnusable(error, directory)
  }
}

function createTable(options: EmbeddedOptions): LockTable {
  const settings = Object.freeze({ ...DEFAULT_SETTINGS, ...options.settings })
  const shards = options.shards ?? SHARDS_DEFAULT
  const problem = problemWithSettings(settings) ?? problemWithShards(shards)
  if (problem !== undefined) throw toInvalidArgument({ kind: 'open' }, problem)
  return new LockTable({ law: options.law ?? decide, settings, shards })
}

function problemWithShards(shards: number): Problem | undefined {
  if (Number.isInteger(shards) && shards >= 1 && shards <= SHARDS_MAX) return undefined
  return { field: 'shards', message: `must be from 1 to ${SHARDS_MAX}` }
}

function capabilitiesOf(
  table: LockTable,
  { durable, history }: Pick<Capabilities, 'durable' | 'history'>,
): Capabilities {
  return Object.freeze({
    name: durable ? 'embedded, on disk' : 'embedded, in memory',
    durable,
    shared: false,
    seesDeadlocks: true,
    leaseGranularityMs: 1,
    ttlMsMin: TTL_MS_MIN,
    wakeDelayMsMax: 0,
    waitersPerKeyMax: table.settings.waitersPerKeyMax,
    queueSurvivesRestart: false,
    history,
  })
}
