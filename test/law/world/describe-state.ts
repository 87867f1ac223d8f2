import type { Decision } from '../../../src/law/decide.ts'
import { LANES_MAX } from '../../../src/engine/validation/limits.ts'
import type { Outcome } from '../../../src/law/model/outcomes.ts'
import type { EndedAnswer } from '../../../src/law/model/view.ts'
import type { NaiveAnswer } from '../naive/naive-model.ts'
import { holdOf, type NaiveKey, type NaiveMemory } from '../naive/naive-state.ts'
import type { KeyState } from './plain-view.ts'

/** Law and model keep different records; described in the same words they can be compared. */

/** What callers can rely on in an outcome: not the wording, nor who was shown beside a refusal. */
function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'refused':
      return `refused ${outcome.code} ${outcome.end ?? ''} ${(outcome.nodes ?? []).join()}`
    case 'granted': {
      const { mode, token, reads, writes, leaseMs } = outcome
      return `granted ${mode} #${token} r${reads} w${writes} for ${leaseMs}`
    }
    default:
      return JSON.stringify(outcome)
  }
}

export function describeLawAnswer(decision: Decision): string {
  const settled = decision.changes.flatMap((change) =>
    change.kind === 'waiter-gone'
      ? [`${change.waiter.owner}/${change.waiter.requestId}: ${describeOutcome(change.answer)}`]
      : [],
  )
  return [describeOutcome(decision.outcome), ...settled.toSorted()].join('\n')
}

export function describeModelAnswer(answer: NaiveAnswer): string {
  const settled = answer.settled.map(
    (entry) => `${entry.owner}/${entry.id}: ${describeOutcome(entry.answer)}`,
  )
  return [describeOutcome(answer.outcome), ...settled.toSorted()].join('\n')
}

interface Described {
  readonly type: string
  readonly version: string | undefined
  readonly coordination?: string
}

function describeFacts(facts: Described | undefined): string {
  return facts ? `${facts.type}@${facts.version ?? ''} ${facts.coordination ?? ''}` : ''
}

/** Late retries are answered from this, so it is compared as what they would be answered. */
function describeEnd(request: NaiveMemory): string {
  const { verb, owner, id, mode, at, answer } = request
  return `${verb} ${owner}/${id} ${mode} ended at ${at}: ${describeOutcome(answer)}`
}

function toOutcome(answer: EndedAnswer): Outcome {
  if (answer.kind !== 'hold-ended') return answer
  return { kind: 'refused', code: 'ended', end: answer.end }
}

function describePasses(passes: readonly number[], lanes: number): string {
  return `passed ${Array.from({ length: lanes }, (_, lane) => passes[lane] ?? 0)}`
}

export function describeLawState(state: KeyState): string {
  const holds = state.holds.map((hold) => {
    const steps = hold.steps.map((step) => {
      return `${step.requestId}${step.mode}${step.claimByMs}${step.joined ?? ''}`
    })
    const { owner, token, leaseAtMs } = hold
    return `hold ${owner} #${token} until ${leaseAtMs} ${steps} ${describeFacts(hold.operation)}`
  })
  const waiters = state.waiters.map((waiter) => {
    const { owner, requestId, mode, lane, upgrade, connected, deadlineAtMs, leaseAtMs } = waiter
    const moments = `${connected} ${deadlineAtMs} ${leaseAtMs} ${waiter.joined ?? ''}`
    return `wait ${owner}/${requestId} ${mode} ${lane} ${upgrade} ${moments} ${describeFacts(waiter.operation)}`
  })
  const successes = state.remembered
    .filter((success) => !success.replayOnly)
    .map((success) => `${describeFacts(success)}=${success.value} until ${success.untilMs}`)
  const ended = state.ended.map(({ requestId, atMs, answer, ...rest }) =>
    describeEnd({ ...rest, id: requestId, at: atMs, answer: toOutcome(answer) }),
  )
  const references = state.references.map(({ node, claimByMs }) => `${node} by ${claimByMs}`)
  return [
    `#${state.token} ${describePasses(state.passes, LANES_MAX)} ${references}`,
    ...[...holds, ...waiters, ...successes, ...ended],
  ].join('\n')
}

export function describeModelState(key: NaiveKey): string {
  const holds = key.holds.map((hold) => {
    const steps = hold.steps.map((step) => `${step.id}${step.mode}${step.claimBy}${step.joined}`)
    const { owner, token, lease } = hold
    return `hold ${owner} #${token} until ${lease} ${steps} ${describeFacts(hold.facts)}`
  })
  const waiters = key.queue.map((waiter) => {
    const { owner, id, mode, lane, connected, deadline, lease } = waiter
    const upgrade = holdOf(key, owner) !== undefined
    const moments = `${connected} ${deadline} ${lease} ${waiter.joined}`
    return `wait ${owner}/${id} ${mode} ${lane} ${upgrade} ${moments} ${describeFacts(waiter.facts)}`
  })
  const successes = key.successes.map(
    (success) => `${describeFacts(success)}=${success.value} until ${success.until}`,
  )
  const refs = key.refs.map(({ node, claimBy }) => `${node} by ${claimBy}`)
  return [
    `#${key.token} ${describePasses(key.passes, LANES_MAX)} ${refs}`,
    ...[...holds, ...waiters, ...successes, ...key.memory.map(describeEnd)],
  ].join('\n')
}
