/**
 * What clients did and what they were told, in a form that can be checked afterwards.
 *
 * A history is a list of records: one entry per client operation, and marks for everything else
 * that a check needs to know (a nemesis at work, a hold that its owner was told it lost). All
 * instants come from one monotonic clock on the test host. Every check is arithmetic on these
 * records, so a paused or cut-off client cannot stretch what it believed.
 */

/** What a client asked for. `cancel` and `force` are asked on a key, `session` is about a session. */
export type HistoryOp =
  | 'acquire'
  | 'release'
  | 'renew'
  | 'cancel'
  | 'begin'
  | 'finish'
  | 'unref'
  | 'check'
  | 'force'
  | 'session'

/** The fields of an entry that are known when the call is made. */
export interface HistoryCall {
  /** Who asked: a client process or a simulated client. Its broken connections are marked by it. */
  readonly proc: string
  readonly op: HistoryOp
  /** The lock's key or the operation's resource. An `unref` without it drops all references. */
  readonly key?: string | undefined
  /** Locks and operations are two namespaces; without it `begin`, `finish`, `unref` tell. */
  readonly space?: 'lock' | 'operation' | undefined
  /** By default `type:node` for operations, else the `proc`. */
  readonly owner?: string | undefined
  readonly session?: string | undefined
  /** The same on every retry of one logical request. */
  readonly reqId?: string | undefined
  readonly mode?: 'read' | 'write' | undefined
  /** The lane that it really stands in; requests of one lane are checked for their order. */
  readonly lane?: string | undefined
  /** The lease; a hold without it counts as one that never expires. Of a `session`: its grace. */
  readonly ttlMs?: number | undefined
  readonly waitMs?: number | undefined
  readonly type?: string | undefined
  readonly node?: string | undefined
  readonly version?: string | undefined
  readonly coordination?: 'server' | 'client' | 'mutex' | undefined
  /** Of a `finish`: whether the work succeeded. */
  readonly success?: boolean | undefined
  /** Of a `session`: opened, heard from, or ended with a good-bye. */
  readonly action?: 'open' | 'beat' | 'end' | undefined
  /** Of opening a `session`: whether hearing from it renews the leases of its holds; by default yes. */
  readonly keepsLeases?: boolean | undefined
  /** Of a `release` or `renew`: the token that the request named. Elsewhere see `HistoryAnswer`. */
  readonly token?: number | undefined
  /** Of a `finish`: the value that it left. Elsewhere see `HistoryAnswer`. */
  readonly value?: unknown
  /** Which life of the engine or server the call was sent to, where the harness counts them. */
  readonly incarnation?: number | undefined
}

/** The fields of an entry that the answer brings. */
export interface HistoryAnswer {
  /** By default `granted` for an `acquire` or `begin` that went well, `done` for the others. */
  readonly answer?: 'granted' | 'queued' | 'skip' | 'dissolved' | 'done' | 'refused' | undefined
  /** Why it was refused, or what the failure was. */
  readonly code?: string | undefined
  readonly token?: number | undefined
  /** The owner's counts after the answer. */
  readonly reads?: number | undefined
  readonly writes?: number | undefined
  /** The place in the queue; 1 is next. */
  readonly position?: number | undefined
  /** What a skipped operation left. */
  readonly value?: unknown
  /** When the client began to count its lease, if it is later than its call allows to conclude. */
  readonly leaseFrom?: number | undefined
  /** The lease that was granted, where it is shorter than the one that was asked for. */
  readonly ttlMs?: number | undefined
  readonly holders?: readonly HolderSeen[] | undefined
  readonly waiters?: readonly WaiterSeen[] | undefined
  /** The nodes with a reference, as seen by a `check` or named by an `in_use`. */
  readonly refs?: readonly string[] | undefined
}

/** A holder as a `check` showed it. */
export interface HolderSeen {
  readonly owner: string
  readonly reads?: number | undefined
  readonly writes?: number | undefined
  readonly token?: number | undefined
}

/** A waiter as a `check` showed it. */
export interface WaiterSeen {
  readonly owner: string
  readonly reqId?: string | undefined
}

/** One client operation. */
export interface HistoryEntry extends HistoryCall, HistoryAnswer {
  readonly kind: 'op'
  /** Unique in the history. */
  readonly id: number
  readonly call: number
  /** When the first answer `queued` came, if the operation went on waiting after it. */
  readonly queuedAt?: number
  /** `Infinity` for `info`: it may take effect at any later time, or never. */
  readonly ret: number
  /** `ok` went well, `fail` changed nothing for certain, `info` nobody knows. */
  readonly outcome: 'ok' | 'fail' | 'info'
}

/**
 * Something that happened beside the operations. Four names mean something to the checks:
 * `lost` (an owner was told that its hold is gone), `expired` (the engine reported that it ended a
 * hold because its lease had passed), `disconnect` (the harness broke the connection of `proc`) and
 * `silence` (the client of `session` was not heard for the grace, and lost its places).
 * Every other name is a deed of the nemesis; `crash` and `restart` may empty a queue.
 */
export interface HistoryMark {
  readonly kind: 'mark'
  readonly name: string
  readonly at: number
  readonly key?: string | undefined
  readonly space?: 'lock' | 'operation' | undefined
  readonly owner?: string | undefined
  readonly token?: number | undefined
  readonly proc?: string | undefined
  readonly session?: string | undefined
  readonly detail?: string | undefined
}

export type HistoryRecord = HistoryEntry | HistoryMark
export type History = readonly HistoryRecord[]

/** One JSON text per line, in the order of the history. An open end is written as `null`. */
export function dumpHistory(history: History): string {
  return history.map((record) => `${JSON.stringify(record)}\n`).join('')
}

/** Reads what `dumpHistory` wrote; throws a `SyntaxError` that names the line it cannot read. */
export function loadHistory(text: string): HistoryRecord[] {
  const records: HistoryRecord[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line !== '') records.push(parseRecord(line, index + 1))
  }
  return records
}

function parseRecord(line: string, lineNumber: number): HistoryRecord {
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch (cause) {
    throw new SyntaxError(`line ${lineNumber} of the history is not JSON`, { cause })
  }
  if (isObject(record)) {
    if (record['kind'] === 'mark' && typeof record['at'] === 'number') {
      return record as unknown as HistoryMark
    }
    if (record['kind'] === 'op' && typeof record['call'] === 'number') {
      return { ...record, ret: record['ret'] ?? Infinity } as unknown as HistoryEntry
    }
  }
  throw new SyntaxError(`line ${lineNumber} of the history is neither an operation nor a mark`)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
