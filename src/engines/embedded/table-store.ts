import type { Change } from '../../law/model/changes.ts'
import { referencePatienceMs } from '../../law/operation-head.ts'
import type { Session } from '../../law/model/view.ts'
import type { JournalOwner } from './journal/owner/journal-owner.ts'
import type { KeyState } from './table/key-state.ts'
import type { LockTable } from './table/lock-table.ts'
import { isDurable, type Reckoning, readChange, writeChange } from './records/record-codec.ts'
import { RecordReader } from './records/record-reader.ts'
import { RecordWriter } from './records/record-writer.ts'
import { ResourceState } from './table/resource-state.ts'

const LOCK = 0
const OPERATION = 1
const SESSION_OPEN = 2
const SESSION_ENDED = 3
const TOKENS = 4

/**
 * The table as the journal sees it: records out, records in. One decision is one record, so that a
 * crash keeps all of it or nothing. Every record says what is now, not what is added, so reading one
 * twice does no harm.
 */
export class TableStore implements JournalOwner {
  readonly #table: LockTable
  readonly #nowMs: () => number
  readonly #writer = new RecordWriter()

  constructor(table: LockTable, nowMs: () => number) {
    this.#table = table
    this.#nowMs = nowMs
  }

  /** The record of a decision, valid until the next one; `undefined` when nothing of it needs to last. */
  recordOf(state: KeyState, changes: readonly Change[]): Buffer | undefined {
    const writer = this.#writer
    for (const change of changes) addChange(writer, state, change)
    return writer.isEmpty ? undefined : writer.take()
  }

  recordOfSession(session: Session): Buffer {
    return encodeSession(this.#writer, session)
  }

  recordOfSessionEnd(id: string): Buffer {
    this.#writer.byte(SESSION_ENDED)
    this.#writer.text(id)
    return this.#writer.take()
  }

  restore(chunk: Uint8Array): void {
    this.replay(chunk)
  }

  replay(record: Uint8Array): void {
    const from = new RecordReader(record)
    const kind = from.byte()
    if (kind === TOKENS) this.#readTokens(from)
    else if (kind === SESSION_OPEN) this.#table.setSession(this.#readSession(from))
    else if (kind === SESSION_ENDED) this.#table.endSession(from.text(), this.#nowMs())
    else this.#readKey(from, kind === OPERATION)
  }

  #readSession(from: RecordReader): Session {
    const id = from.text()
    const graceMs = from.number()
    return { id, graceMs, keepsLeases: from.byte() === 1, heardAtMs: this.#nowMs() }
  }

  #readKey(from: RecordReader, isOperation: boolean): void {
    const key = from.text()
    const state = isOperation ? this.#table.resource(key) : this.#table.lock(key)
    const { settings } = this.#table
    const { claimWindowMs, retentionMs } = settings
    const nowMs = this.#nowMs()
    const reckoning: Reckoning = {
      nowMs,
      claimWindowMs,
      referencePatienceMs: referencePatienceMs(settings),
      retentionMs,
    }
    const changes: Change[] = []
    while (!from.isAtEnd) changes.push(readChange(from, reckoning))
    this.#table.apply(state, changes)
    this.#table.rest(state)
  }

  /** With another number of shards than before, every counter starts from the highest. */
  #readTokens(from: RecordReader): void {
    const tokens = Array.from({ length: from.number() }, () => from.number())
    const highest = Math.max(0, ...tokens)
    const { shards } = this.#table
    for (const shard of shards) {
      const token = tokens.length === shards.length ? (tokens[shard.index] ?? 0) : highest
      shard.token = Math.max(shard.token, token)
    }
  }

  /** The highest token of all keys. */
  get highest(): number {
    let highest = 0
    for (const { token } of this.#table.shards) if (token > highest) highest = token
    return highest
  }

  raise(above: number): void {
    for (const shard of this.#table.shards) shard.token = Math.max(shard.token, above)
  }

  *snapshot(): Iterable<Uint8Array> {
    const writer = new RecordWriter()
    writer.byte(TOKENS)
    writer.number(this.#table.shards.length)
    for (const { token } of this.#table.shards) writer.number(token)
    yield writer.take()
    for (const session of this.#table.sessions.values()) yield encodeSession(writer, session)
    for (const state of this.#table.states()) {
      for (const change of changesThatMake(state)) addChange(writer, state, change)
      if (!writer.isEmpty) yield writer.take()
    }
  }
}

/** Adds a change to the record of a key, which begins with the first that is to last. */
function addChange(writer: RecordWriter, state: KeyState, change: Change): void {
  if (!isDurable(change)) return
  if (writer.isEmpty) {
    writer.byte(state instanceof ResourceState ? OPERATION : LOCK)
    writer.text(state.key)
  }
  writeChange(writer, change)
}

function encodeSession(writer: RecordWriter, session: Session): Buffer {
  writer.byte(SESSION_OPEN)
  writer.text(session.id)
  writer.number(session.graceMs)
  writer.byte(session.keepsLeases ? 1 : 0)
  return writer.take()
}

/** The changes that would bring an empty key to this state, as far as it lasts. */
function* changesThatMake(state: KeyState): Iterable<Change> {
  for (const hold of state.holds()) yield { kind: 'hold-set', hold, leaseOnly: false }
  for (const ended of state.endings ?? []) {
    yield { kind: 'end-remembered', ended, volatile: ended.answer.kind === 'refused' }
  }
  for (const reference of state.references()) yield { kind: 'reference-set', reference }
  for (const remembered of state.everyRemembered()) {
    yield { kind: 'success-remembered', remembered }
  }
}
