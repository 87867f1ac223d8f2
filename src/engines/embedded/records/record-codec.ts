import { assert } from '../../../law/assert.ts'
import type { Change } from '../../../law/model/changes.ts'
import type { Coordination } from '../../../law/model/settings.ts'
import type {
  Ended,
  EndedAnswer,
  EndedCode,
  Hold,
  HoldEnd,
  OperationFacts,
  Remembered,
  Step,
} from '../../../law/model/view.ts'
import type { RecordReader } from './record-reader.ts'
import type { RecordWriter } from './record-writer.ts'

/**
 * How the durable changes of a key are written. Instants are not: the clock does not survive the
 * process, so a lease is written as its length and starts anew, in full, when it is read.
 *
 * Numbers in these lists are part of the format: append, never reorder.
 */
const CHANGES = [
  'hold-set',
  'hold-ended',
  'end-remembered',
  'reference-set',
  'reference-dropped',
  /** The number of a kind that is gone. No record was ever written with it. */
  'unused',
  'success-remembered',
  'success-forgotten',
  /** A `reference-set` that the node has still to claim. */
  'reference-unclaimed',
] as const
const COORDINATIONS: readonly Coordination[] = ['server', 'client', 'mutex']
const HOLD_ENDS: readonly HoldEnd[] = [
  'released',
  'expired',
  'disconnected',
  'forced',
  'failed',
  'cancelled',
  'unclaimed',
]
const VERBS = ['acquire', 'release'] as const
const MODES = ['read', 'write'] as const
const ANSWERS = ['hold-ended', 'refused', 'skip', 'dissolved', 'released', 'finished'] as const
const ENDED_CODES: readonly EndedCode[] = [
  'held',
  'timeout',
  'cancelled',
  'upgrade_conflict',
  'deadlock',
  'not_holder',
  'abandoned',
  'disconnected',
  'in_use',
]

/** What instants are counted from when a record is read. */
export interface Reckoning {
  readonly nowMs: number
  readonly claimWindowMs: number
  readonly referencePatienceMs: number
  readonly retentionMs: number
}

/** Whether a change must be on disk before it is answered. */
export function isDurable(change: Change): boolean {
  if (change.kind === 'hold-set') return !change.leaseOnly
  if (change.kind === 'end-remembered') return !change.volatile
  return (CHANGES as readonly string[]).includes(change.kind)
}

export function writeChange(to: RecordWriter, change: Change): void {
  const isUnclaimed = change.kind === 'reference-set' && change.reference.claimByMs !== null
  to.byte(indexIn<string>(CHANGES, isUnclaimed ? 'reference-unclaimed' : change.kind))
  switch (change.kind) {
    case 'hold-set':
      writeHold(to, change.hold)
      break
    case 'hold-ended':
      to.text(change.hold.owner)
      to.number(change.hold.token)
      break
    case 'end-remembered':
      writeEnded(to, change.ended)
      break
    case 'reference-set':
      to.text(change.reference.node)
      break
    case 'reference-dropped':
      to.text(change.node)
      break
    case 'success-remembered':
      writeRemembered(to, change.remembered)
      break
    case 'success-forgotten':
      to.text(change.type)
      break
    default:
      break
  }
}

export function readChange(from: RecordReader, reckoning: Reckoning): Change {
  const kind = oneOf(CHANGES, from.byte())
  assert(kind !== 'unused', 'a journal record has a change of no kind')
  switch (kind) {
    case 'hold-set':
      return { kind, hold: readHold(from, reckoning), leaseOnly: false }
    case 'hold-ended':
      return { kind, hold: endedHold(from.text(), from.number()), end: 'released' }
    case 'end-remembered':
      return { kind, ended: readEnded(from, reckoning.nowMs), volatile: false }
    case 'reference-set':
      return { kind, reference: { node: from.text(), claimByMs: null } }
    case 'reference-unclaimed': {
      const claimByMs = reckoning.nowMs + reckoning.referencePatienceMs
      return { kind: 'reference-set', reference: { node: from.text(), claimByMs } }
    }
    case 'reference-dropped':
      return { kind, node: from.text() }
    case 'success-remembered':
      return { kind, remembered: readRemembered(from, reckoning) }
    case 'success-forgotten':
      return { kind, type: from.text() }
  }
}

function writeHold(to: RecordWriter, hold: Hold): void {
  to.text(hold.owner)
  to.optional(hold.party === hold.owner ? undefined : hold.party)
  to.optional(hold.session)
  to.optional(hold.meta)
  to.number(hold.token)
  to.number(hold.ttlMs)
  to.number(hold.steps.length)
  for (const step of hold.steps) writeStep(to, step)
  to.byte(hold.operation === undefined ? 0 : 1)
  if (hold.operation !== undefined) writeFacts(to, hold.operation)
}

function readHold(from: RecordReader, { nowMs, claimWindowMs }: Reckoning): Hold {
  const owner = from.text()
  const party = from.optional() ?? owner
  const session = from.optional()
  const meta = from.optional()
  const token = from.number()
  const ttlMs = from.number()
  const steps: Step[] = []
  let writes = 0
  for (let left = from.number(); left > 0; left -= 1) {
    const step = readStep(from, nowMs + claimWindowMs)
    steps.push(step)
    if (step.mode === 'write') writes += 1
  }
  const operation = from.byte() === 0 ? undefined : readFacts(from)
  // Written out, here and below: an object put together by spreading takes ten times as long to make.
  return {
    owner,
    party,
    session,
    meta,
    token,
    ttlMs,
    steps,
    operation,
    reads: steps.length - writes,
    writes,
    leaseAtMs: nowMs + ttlMs,
    sinceMs: nowMs,
  }
}

/** The end of a hold names its owner; the rest of it is no longer of interest. */
function endedHold(owner: string, token: number): Hold {
  return {
    owner,
    party: owner,
    session: undefined,
    meta: undefined,
    token,
    ttlMs: 0,
    steps: [],
    operation: undefined,
    reads: 0,
    writes: 0,
    leaseAtMs: 0,
    sinceMs: 0,
  }
}

const TAKEN = 0
const TOLD = 1
const TO_BE_CLAIMED = 2
const CLAIMS = [TAKEN, TOLD, TO_BE_CLAIMED] as const
/** Added to the state of a step when more of it follows. */
const WITH_TOKEN_BEFORE = 4
const WITH_JOINED = 8

function writeStep(to: RecordWriter, step: Step): void {
  const { claimByMs, tokenBefore, joined } = step
  to.text(step.requestId)
  to.byte(MODES.indexOf(step.mode))
  let state = TAKEN
  if (claimByMs !== null) state = Number.isFinite(claimByMs) ? TO_BE_CLAIMED : TOLD
  if (tokenBefore !== undefined) state += WITH_TOKEN_BEFORE
  if (joined !== undefined) state += WITH_JOINED
  to.byte(state)
  if (tokenBefore !== undefined) to.number(tokenBefore)
  if (joined === undefined) return
  to.number(joined.length)
  for (const requestId of joined) to.text(requestId)
}

function readStep(from: RecordReader, claimUntilMs: number): Step {
  const requestId = from.text()
  const mode = oneOf(MODES, from.byte())
  const state = from.byte()
  const claim = oneOf(CLAIMS, state % WITH_TOKEN_BEFORE)
  const claimByMs = [null, Number.POSITIVE_INFINITY, claimUntilMs][claim] as number | null
  const tokenBefore = hasFlag(state, WITH_TOKEN_BEFORE) ? from.number() : undefined
  const joined = hasFlag(state, WITH_JOINED)
    ? Array.from({ length: from.number() }, () => from.text())
    : undefined
  if (tokenBefore === undefined && joined === undefined) return { requestId, mode, claimByMs }
  return {
    requestId,
    mode,
    claimByMs,
    ...(tokenBefore === undefined ? {} : { tokenBefore }),
    ...(joined === undefined ? {} : { joined }),
  }
}

function hasFlag(state: number, flag: number): boolean {
  return (state & flag) !== 0
}

function writeFacts(to: RecordWriter, facts: OperationFacts): void {
  to.text(facts.type)
  to.text(facts.node)
  to.optional(facts.version)
  to.byte(COORDINATIONS.indexOf(facts.coordination))
}

function readFacts(from: RecordReader): OperationFacts {
  return {
    type: from.text(),
    node: from.text(),
    version: from.optional(),
    coordination: oneOf(COORDINATIONS, from.byte()),
  }
}

function writeRemembered(to: RecordWriter, remembered: Remembered): void {
  to.text(remembered.type)
  to.optional(remembered.version)
  to.text(remembered.node)
  to.optional(remembered.value)
  to.byte(remembered.replayOnly ? 1 : 0)
}

function readRemembered(from: RecordReader, { nowMs, retentionMs }: Reckoning): Remembered {
  return {
    type: from.text(),
    version: from.optional(),
    node: from.text(),
    value: from.optional(),
    replayOnly: from.byte() === 1,
    atMs: nowMs,
    untilMs: nowMs + retentionMs,
  }
}

function writeEnded(to: RecordWriter, ended: Ended): void {
  to.byte(VERBS.indexOf(ended.verb))
  to.text(ended.owner)
  to.text(ended.requestId)
  to.byte(ended.mode === undefined ? MODES.length : MODES.indexOf(ended.mode))
  to.byte(ANSWERS.indexOf(ended.answer.kind))
  writeAnswer(to, ended.answer)
}

function readEnded(from: RecordReader, atMs: number): Ended {
  const verb = oneOf(VERBS, from.byte())
  const owner = from.text()
  const requestId = from.text()
  const mode = MODES[from.byte()]
  return { verb, owner, requestId, mode, atMs, answer: readAnswer(from) }
}

function writeAnswer(to: RecordWriter, answer: EndedAnswer): void {
  switch (answer.kind) {
    case 'hold-ended':
      to.byte(HOLD_ENDS.indexOf(answer.end))
      break
    case 'refused':
      to.byte(ENDED_CODES.indexOf(answer.code))
      break
    case 'skip':
      to.optional(answer.value)
      break
    case 'dissolved':
      to.text(answer.node)
      break
    case 'released':
      to.number(answer.reads)
      to.number(answer.writes)
      break
    case 'finished':
      to.byte(answer.success ? 1 : 0)
      break
  }
}

function readAnswer(from: RecordReader): EndedAnswer {
  const kind = oneOf(ANSWERS, from.byte())
  switch (kind) {
    case 'hold-ended':
      return { kind, end: oneOf(HOLD_ENDS, from.byte()) }
    case 'refused':
      return { kind, code: oneOf(ENDED_CODES, from.byte()) }
    case 'skip':
      return { kind, value: from.optional() }
    case 'dissolved':
      return { kind, node: from.text() }
    case 'released':
      return { kind, reads: from.number(), writes: from.number() }
    case 'finished':
      return { kind, success: from.byte() === 1 }
  }
}

function indexIn<T>(list: readonly T[], value: T): number {
  const index = list.indexOf(value)
  assert(index >= 0, `a change of kind ${String(value)} is not written to the journal`)
  return index
}

function oneOf<T>(list: readonly T[], index: number): T {
  const value = list[index]
  assert(value !== undefined, `a journal record has the unknown number ${index}`)
  return value
}
