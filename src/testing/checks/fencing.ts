import type { HistoryEntry } from '../history.ts'
import { partitionBy } from '../linearizability.ts'
import type { Evidence } from './evidence.ts'
import { acknowledgedLeave } from './hold-end.ts'
import type { Hold } from './holds.ts'
import type { GrantedRequest } from './requests/requests.ts'
import { grantedOf } from './requests/requests.ts'
import type { Violation } from './violation.ts'

/**
 * Tokens of a key belong to one hold each and follow the order of the grants; entering again keeps
 * the token, and passing from reading to writing gives a greater one.
 */
export function checkFencing({ holds, requests }: Evidence): Violation[] {
  const grants = grantedOf(requests).filter(({ answer }) => {
    return answer.token !== undefined
  })
  const bySubject = partitionBy(grants, ({ subject }) => subject)
  return [
    ...[...bySubject.values()].flatMap((ofKey) => {
      const tokens = collectTokens(ofKey)
      return [...checkOneOwner(tokens), ...checkOrder(tokens)]
    }),
    ...checkReuse(holds),
    ...holds.flatMap(checkReentry),
    ...holds.flatMap(checkUpgrade),
  ]
}

/** One token with everything that was granted under it. */
interface TokenUse {
  readonly token: number
  readonly grants: readonly GrantedRequest[]
  /** The token was not given before this instant, and had been given by `known`. */
  readonly earliest: number
  readonly known: number
}

function collectTokens(grants: readonly GrantedRequest[]): TokenUse[] {
  const byToken = partitionBy(grants, ({ answer }) => String(answer.token))
  return [...byToken].map(([token, ofToken]) => ({
    token: Number(token),
    grants: ofToken,
    earliest: Math.min(...ofToken.map(({ earliest }) => earliest)),
    known: Math.min(...ofToken.map(({ answered }) => answered)),
  }))
}

function checkOneOwner(tokens: readonly TokenUse[]): Violation[] {
  return tokens.flatMap(({ token, grants }) => {
    const first = grants[0] as GrantedRequest
    const other = grants.find(({ owner }) => owner !== first.owner)
    if (other === undefined) return []
    const message = `token ${token} went to ${first.owner} and to ${other.owner}`
    return [toViolation(first.subject, message, [first.answer, other.answer])]
  })
}

// In the order of the earliest possible grant, every token that was already known must be smaller.
function checkOrder(tokens: readonly TokenUse[]): Violation[] {
  const violations: Violation[] = []
  const byKnown = [...tokens].sort((a, b) => a.known - b.known)
  let highest: TokenUse | null = null
  let next = 0
  for (const use of [...tokens].sort((a, b) => a.earliest - b.earliest)) {
    for (; (byKnown[next]?.known ?? Infinity) < use.earliest; next++) {
      const before = byKnown[next] as TokenUse
      if (highest === null || before.token > highest.token) highest = before
    }
    if (highest === null || highest.token < use.token) continue
    const answers = [highest, use].map(({ grants }) => (grants[0] as GrantedRequest).answer)
    const subject = (use.grants[0] as GrantedRequest).subject
    const message = `token ${use.token} was given after token ${highest.token} was known`
    violations.push(toViolation(subject, message, answers))
  }
  return violations
}

function checkReuse(holds: readonly Hold[]): Violation[] {
  const violations: Violation[] = []
  const endedBy = new Map<string, HistoryEntry>()
  for (const hold of holds) {
    const names = hold.tokens.map((token) => `${hold.subject} ${token} ${hold.owner}`)
    for (const name of names) {
      const end = endedBy.get(name)
      if (end === undefined || end.ret >= hold.earliest) continue
      const message = `${hold.owner} got a token again that ended with its release`
      violations.push(toViolation(hold.subject, message, [end, ...answersOf(hold)]))
    }
    const leave = acknowledgedLeave(hold)
    if (leave !== null) for (const name of names) endedBy.set(name, leave)
  }
  return violations
}

// The owner relied on its hold for the whole time of the next request, so that entered again.
function checkReentry(hold: Hold, index: number, holds: readonly Hold[]): Violation[] {
  const next = holds[index + 1]
  if (hold.end?.cause !== 'replaced' || next === undefined) return []
  if (next.from >= hold.end.leaseUntil || next.earliest <= hold.from) return []
  const message = `${hold.owner} entered again and got token ${next.tokens[0]} instead of its own`
  return [toViolation(hold.subject, message, [...answersOf(hold), ...answersOf(next)])]
}

function checkUpgrade(hold: Hold): Violation[] {
  const [first] = hold.requests
  const upgrade = hold.windows.find(({ mode, opener }) => mode === 'write' && opener !== first)
  if (upgrade === undefined || first === undefined || first.mode !== 'read') return []
  const before = first.answer.token
  const after = upgrade.opener.answer.token
  if (before === undefined || after === undefined || after > before) return []
  const message = `${hold.owner} upgraded from token ${before} to ${after}, which is not greater`
  return [toViolation(hold.subject, message, answersOf(hold))]
}

function answersOf(hold: Hold): HistoryEntry[] {
  return hold.requests.map(({ answer }) => answer)
}

function toViolation(
  subject: string,
  message: string,
  entries: readonly HistoryEntry[],
): Violation {
  return { property: 'fencing', message: `${subject}: ${message}`, entries }
}
