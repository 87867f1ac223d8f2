import { expect, it } from 'vitest'
import type { KeyCommand } from '../../src/law/model/commands.ts'
import { decide } from '../../src/law/decide.ts'
import { ENDED_REMEMBERED_MS } from '../../src/law/model/limits.ts'
import type { Outcome } from '../../src/law/model/outcomes.ts'
import { applyChanges } from './world/apply-changes.ts'
import {
  checkRuns,
  commandOfNamedReleases,
  lockCommand,
  operationCommand,
} from './naive/random-run.ts'
import { type RandomStep, randomSteps } from './naive/random-steps.ts'

/** Answers after which the request must never hold. The rest of refusals may be asked again. */
function isFinal(outcome: Outcome): boolean {
  const open = ['bad_request', 'limit', 'no_session', 'stale_token']
  return outcome.kind === 'refused' && !open.includes(outcome.code)
}

/** A late copy is told of an end that is remembered from when it was, not from when it is told. */
function isReplay({ command, before, nowMs }: RandomStep): boolean {
  return before.ended.some(
    ({ verb, owner, requestId, atMs }) =>
      command.kind === verb &&
      command.owner === owner &&
      command.requestId === requestId &&
      atMs + ENDED_REMEMBERED_MS > nowMs,
  )
}

/** Every final answer of a step, by the request it was given to. */
function finalAnswers(step: RandomStep): readonly string[] {
  const { command, decision } = step
  const own =
    command.kind === 'acquire' && isFinal(decision.outcome) && !isReplay(step)
      ? [`${command.owner}/${command.requestId}`]
      : []
  const settled = decision.changes.flatMap((change) =>
    change.kind === 'waiter-gone' && isFinal(change.answer)
      ? [`${change.waiter.owner}/${change.waiter.requestId}`]
      : [],
  )
  return [...own, ...settled]
}

it('after an answer of time-out, cancel or refusal a request never holds', () => {
  let answers = 0
  checkRuns(lockCommand, (run) => {
    const ended = new Map<string, number>()
    for (const step of randomSteps(run, { namespace: 'lock' })) {
      const { nowMs, place, after } = step
      for (const name of finalAnswers(step)) {
        const known = ended.get(`${place.key} ${name}`)
        const isOver = known === undefined || known + ENDED_REMEMBERED_MS <= nowMs
        if (isOver) ended.set(`${place.key} ${name}`, nowMs)
        answers += 1
      }
      for (const { owner, steps } of after.holds) {
        for (const { requestId } of steps) {
          const endedAtMs = ended.get(`${place.key} ${owner}/${requestId}`) ?? -Infinity
          expect(endedAtMs + ENDED_REMEMBERED_MS).toBeLessThanOrEqual(nowMs)
        }
      }
    }
  })
  expect(answers).toBeGreaterThan(200)
})

function isStranger(outcome: Outcome): boolean {
  return outcome.kind === 'refused' && outcome.code === 'not_holder'
}

it('a release that was refused never ends anything, however late it comes again', () => {
  let repeated = 0
  checkRuns(commandOfNamedReleases, (run) => {
    const refused = new Map<string, number>()
    for (const { command, decision, nowMs, place } of randomSteps(run, { namespace: 'lock' })) {
      if (command.kind !== 'release' || command.requestId === undefined) continue
      const name = `${place.key} ${command.owner}/${command.requestId}`
      const isKnown = (refused.get(name) ?? -Infinity) + ENDED_REMEMBERED_MS > nowMs
      if (isKnown) {
        repeated += 1
        expect(decision.outcome.kind).toBe('refused')
      } else if (isStranger(decision.outcome) && command.token === undefined) {
        refused.set(name, nowMs)
      }
    }
  })
  expect(repeated).toBeGreaterThan(200)
})

it('a request has at most one place or one step', () => {
  checkRuns(lockCommand, (run) => {
    for (const { after } of randomSteps(run, { namespace: 'lock' })) {
      const standings = [
        ...after.waiters.map(({ owner, requestId }) => `${owner}/${requestId}`),
        ...after.holds.flatMap(({ owner, steps }) =>
          steps.map(({ requestId }) => `${owner}/${requestId}`),
        ),
      ]
      expect(new Set(standings).size).toBe(standings.length)
    }
  })
})

/** Who was shown beside a refusal is not repeated. */
function withoutNodes(outcome: Outcome): unknown {
  if (outcome.kind !== 'refused') return outcome
  return { code: outcome.code, end: outcome.end }
}

function canBeRepeated(command: KeyCommand): boolean {
  switch (command.kind) {
    case 'acquire':
    case 'begin':
    case 'renew':
    case 'expire':
      return true
    case 'release':
    case 'finish':
      return command.requestId !== undefined
    default:
      return false
  }
}

it.each([
  ['lock', lockCommand],
  ['operation', operationCommand],
] as const)(
  'the same command of a %s again gets the same answer and changes nothing',
  (namespace, commands) => {
    let repeated = 0
    checkRuns(commands, (run) => {
      for (const { command, nowMs, place, decision, after, pair } of randomSteps(run, {
        namespace,
      })) {
        if (!canBeRepeated(command)) continue
        const again = decide(pair.world.view(namespace, place.key), command, nowMs)
        expect(applyChanges(after, again.changes)).toEqual(after)
        if (command.kind === 'expire') continue
        expect(withoutNodes(again.outcome)).toEqual(withoutNodes(decision.outcome))
        repeated += 1
      }
    })
    expect(repeated).toBeGreaterThan(1_000)
  },
)

it('a refused command changes nothing but what was due, and what is remembered of it', () => {
  let refusals = 0
  checkRuns(lockCommand, (run) => {
    for (const { decision, before, after } of randomSteps(run, { namespace: 'lock' })) {
      const isQuiet = decision.changes.every((change) => change.kind === 'end-remembered')
      if (decision.outcome.kind !== 'refused' || !isQuiet) continue
      refusals += 1
      expect({ ...after, ended: [] }).toEqual({ ...before, ended: [] })
    }
  })
  expect(refusals).toBeGreaterThan(500)
})
