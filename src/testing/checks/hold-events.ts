import type { HistoryEntry, HistoryMark, HistoryRecord } from '../history.ts'
import type { CheckSettings } from './check-options.ts'
import type { HoldEvidence } from './hold-evidence.ts'
import type { GrantedRequest } from './requests/requests.ts'
import { grantedOf } from './requests/requests.ts'
import { ownerOf, subjectOf } from './subject.ts'

/** Why a hold ended, as far as its owner or the history knows. */
export type EndCause =
  /** Its owner released or finished it. */
  | 'left'
  /** Its owner cancelled the request that made it. */
  | 'cancelled'
  | 'forced'
  /** Its session said good-bye, or its connection was broken longer than the grace. */
  | 'session'
  /** Its owner was told so, by a notice or by a refusal. */
  | 'lost'
  | 'not-holder'
  /** The engine reported that the lease had passed. */
  | 'expired'
  /** Its owner was granted the key anew, with another token. */
  | 'replaced'

interface EventBase {
  /** Key and owner that it is about. */
  readonly track: string
  readonly at: number
  /** If given, it concerns the hold with this token only. */
  readonly token: number | undefined
}

/** Something that makes, prolongs or ends a hold in the eyes of its owner. */
export type HoldEvent =
  | (EventBase & { readonly kind: 'granted'; readonly request: GrantedRequest })
  | (EventBase & {
      readonly kind: 'renewed'
      readonly call: number
      readonly ttlMs: number | undefined
    })
  | (EventBase & {
      readonly kind: 'left'
      readonly mode: 'read' | 'write' | undefined
      readonly record: HistoryRecord
    })
  | (EventBase & {
      readonly kind: 'ended'
      readonly cause: EndCause
      /** If given, it means a hold in this mode only. */
      readonly mode: 'read' | 'write' | undefined
      readonly record: HistoryRecord
    })

export function collectHoldEvents(evidence: HoldEvidence): HoldEvent[] {
  const granted = grantedOf(evidence.requests)
  const context: Context = { granted, settings: evidence.settings, leftOnce: new Set() }
  return [
    ...granted.map((request): HoldEvent => {
      const track = trackOf(request)
      return { kind: 'granted', track, at: request.answered, token: undefined, request }
    }),
    ...evidence.entries.flatMap((entry) => eventsOfEntry(entry, context)),
    ...evidence.marks.flatMap((mark) => eventsOfMark(mark, context)),
  ]
}

interface Context {
  readonly granted: readonly GrantedRequest[]
  readonly settings: CheckSettings
  /** A retried release gives up the hold once. */
  readonly leftOnce: Set<string>
}

function trackOf({ subject, owner }: { readonly subject: string; readonly owner: string }): string {
  return `${subject} ${owner}`
}

function eventsOfEntry(entry: HistoryEntry, context: Context): HoldEvent[] {
  const track = trackOf({ subject: subjectOf(entry), owner: ownerOf(entry) })
  const base = { track, token: entry.token, mode: entry.mode, record: entry }
  const isRefused = entry.outcome === 'fail'
  switch (entry.op) {
    case 'renew':
    case 'release':
    case 'finish':
      if (isRefused && entry.code === 'not_holder') {
        return [{ kind: 'ended', cause: 'not-holder', ...base, at: entry.ret }]
      }
      if (entry.op !== 'renew') return isRefused ? [] : leaveEvents(entry, base, context)
      if (entry.outcome !== 'ok') return []
      return [{ kind: 'renewed', ...base, at: entry.ret, call: entry.call, ttlMs: entry.ttlMs }]
    case 'cancel':
      if (isRefused) return []
      return entry.reqId === undefined ? endsOfEntry(entry, context) : undoEvents(entry, context)
    case 'force':
    case 'session':
      return isRefused ? [] : endsOfEntry(entry, context)
    default:
      return []
  }
}

function leaveEvents(
  entry: HistoryEntry,
  base: Omit<Extract<HoldEvent, { kind: 'left' }>, 'kind' | 'at'>,
  { leftOnce }: Context,
): HoldEvent[] {
  // As JSON, because a request id may look like the number of an entry.
  const name = JSON.stringify([base.track, entry.reqId ?? entry.id])
  if (entry.op === 'release' && leftOnce.has(name)) return []
  leftOnce.add(name)
  return [{ kind: 'left', ...base, at: entry.call }]
}

// A cancel by its id takes back one step of a hold, told or not; what the owner held before stays.
function undoEvents(entry: HistoryEntry, { granted, leftOnce }: Context): HoldEvent[] {
  const subject = subjectOf(entry)
  const owner = ownerOf(entry)
  const request = granted.find((one) => {
    const isNamed = one.subject === subject && one.owner === owner
    return isNamed && one.entries[0]?.reqId === entry.reqId && one.earliest < entry.ret
  })
  const name = JSON.stringify([subject, owner, 'cancel', entry.reqId])
  if (request === undefined || leftOnce.has(name)) return []
  leftOnce.add(name)
  const { answer, answered, mode } = request
  const at = Math.max(entry.call, answered)
  return [{ kind: 'left', track: trackOf(request), token: answer.token, mode, record: entry, at }]
}

// A call that ends holds from outside may do so at any time until it returns, so a grant that
// becomes known in between may be over as soon as it is known.
function endsOfEntry(entry: HistoryEntry, context: Context): HoldEvent[] {
  const subject = subjectOf(entry)
  switch (entry.op) {
    case 'cancel':
      return endHolds(context, {
        cause: 'cancelled',
        record: entry,
        // Without a request id a grant that its owner knows of is not undone.
        from: Infinity,
        to: entry.ret,
        concerns: (request) =>
          request.subject === subject &&
          request.owner === ownerOf(entry) &&
          request.answered > entry.call,
      })
    case 'force':
      return endHolds(context, {
        cause: 'forced',
        record: entry,
        from: entry.call,
        to: entry.ret,
        concerns: ({ subject: other, owner }) =>
          other === subject && owner === (entry.owner ?? owner),
      })
    default:
      if (entry.action !== 'end') return []
      return endHolds(context, {
        cause: 'session',
        record: entry,
        from: entry.call,
        to: entry.ret,
        concerns: ({ entries }) => entries[0]?.session === entry.session,
      })
  }
}

function eventsOfMark(mark: HistoryMark, context: Context): HoldEvent[] {
  if (mark.name === 'lost' || mark.name === 'expired') {
    const track = trackOf({ subject: subjectOf(mark), owner: mark.owner ?? mark.proc ?? '' })
    const base = { track, token: mark.token, mode: undefined, record: mark }
    return [{ kind: 'ended', cause: mark.name, ...base, at: mark.at }]
  }
  if (mark.name !== 'disconnect') return []
  const at = mark.at + context.settings.sessionGraceMs
  return endHolds(context, {
    cause: 'session',
    record: mark,
    from: at,
    to: at,
    concerns: ({ entries }) =>
      mark.session === undefined
        ? entries[0]?.proc === mark.proc
        : entries[0]?.session === mark.session,
  })
}

interface OutsideEnd {
  readonly cause: EndCause
  readonly record: HistoryRecord
  readonly from: number
  readonly to: number
  concerns(request: GrantedRequest): boolean
}

function endHolds({ granted }: Context, end: OutsideEnd): HoldEvent[] {
  const concerned = granted.filter((request) => end.concerns(request) && request.earliest < end.to)
  const base = { kind: 'ended', cause: end.cause, mode: undefined, record: end.record } as const
  const late = concerned
    .filter(({ answered }) => end.from === Infinity || answered > end.from)
    .map((request): HoldEvent => {
      const track = trackOf(request)
      return { ...base, track, token: request.answer.token, at: request.answered }
    })
  if (end.from === Infinity) return late
  const tracks = new Set(concerned.map(trackOf))
  const known = [...tracks].map((track): HoldEvent => {
    return { ...base, track, token: undefined, at: end.from }
  })
  return [...known, ...late]
}
