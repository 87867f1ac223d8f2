import { expect, it } from 'vitest'
import { ENDED_REMEMBERED_MS } from '../../../src/law/model/limits.ts'
import { DEFAULT_SETTINGS } from '../../../src/engine/validation/default-settings.ts'
import { checkRuns, operationCommand, slowOperationCommand } from '../naive/random-run.ts'
import { type RandomStep, randomSteps } from '../naive/random-steps.ts'

interface Node {
  readonly node: string
}

interface Success {
  readonly type: string
  readonly version: string | undefined
  readonly untilMs: number
}

interface Skipped extends Node {
  readonly type: string
  readonly version: string | undefined
  /** Whether its node knows of it without asking again. */
  readonly isTold: boolean
}

/** Who was answered `skip` in a step, and of which type and version it was. */
function skipsOf(step: RandomStep): readonly Skipped[] {
  const { command, decision } = step
  const isSkipped = decision.outcome.kind === 'skip' && !isReplay(step)
  const own = command.kind === 'begin' && isSkipped ? [{ ...command, isTold: true }] : []
  const settled = decision.changes.flatMap((change) =>
    change.kind === 'waiter-gone' && change.answer.kind === 'skip' && change.waiter.operation
      ? [{ ...change.waiter.operation, isTold: change.waiter.connected }]
      : [],
  )
  return [...own, ...settled].map(({ type, version, node, isTold }) => {
    return { type, version, node, isTold }
  })
}

/** The operation that ended with success in this step, if one did. */
function successOf({ command, decision, nowMs }: RandomStep): (Success & Node) | undefined {
  if (command.kind !== 'finish' || !command.success) return undefined
  const owner = `${command.type}:${command.node}`
  for (const change of decision.changes) {
    if (change.kind !== 'hold-ended' || change.end !== 'released') continue
    if (change.hold.owner !== owner || change.hold.operation === undefined) continue
    const { type, node, version } = change.hold.operation
    return { type, node, version, untilMs: nowMs + DEFAULT_SETTINGS.retentionMs }
  }
  return undefined
}

/** A late copy of a request is told what the request was told, whatever has happened since; for a while. */
function isReplay({ command, before, nowMs }: RandomStep): boolean {
  if (command.kind !== 'begin' || command.requestId === undefined) return false
  const owner = `${command.type}:${command.node}`
  const latest = before.ended.find(
    (entry) =>
      entry.verb === 'acquire' && entry.owner === owner && entry.requestId === command.requestId,
  )
  return latest !== undefined && latest.atMs + ENDED_REMEMBERED_MS > nowMs
}

it('references are the nodes that pulled or skipped since the last delete, less those that dropped theirs or never came for them', () => {
  let referenced = 0
  let lost = 0
  checkRuns(slowOperationCommand, (run) => {
    let nodes = new Map<string, number>()
    const settings = { waiterPatienceMs: 30_000 }
    for (const step of randomSteps(run, { namespace: 'operation', settings })) {
      if (step.place.key !== 'a') continue
      const { command, nowMs } = step
      for (const [node, untilMs] of nodes) if (untilMs <= nowMs && nodes.delete(node)) lost += 1
      const success = successOf(step)
      if (success?.type === 'delete') nodes = new Map()
      if (success?.type === 'pull') nodes.set(success.node, Infinity)
      for (const { type, node, isTold } of skipsOf(step)) {
        const isKept = type !== 'pull' || nodes.get(node) === Infinity
        if (!isKept) nodes.set(node, isTold ? Infinity : nowMs + ENDED_REMEMBERED_MS)
      }
      const isSkipped = step.decision.outcome.kind === 'skip'
      if (command.kind === 'begin' && command.type === 'pull' && isSkipped) {
        if (nodes.has(command.node)) nodes.set(command.node, Infinity)
      }
      if (command.kind === 'unref') nodes.delete(command.node)
      expect(new Set(step.after.references.map(({ node }) => node))).toEqual(new Set(nodes.keys()))
      referenced += nodes.size
    }
  })
  expect(referenced).toBeGreaterThan(1_000)
  expect(lost).toBeGreaterThan(0)
})

it('a delete never runs while the resource is referenced', () => {
  let deletes = 0
  checkRuns(operationCommand, (run) => {
    for (const { after } of randomSteps(run, { namespace: 'operation' })) {
      if (after.holds[0]?.operation?.type !== 'delete') continue
      deletes += 1
      expect(after.references).toEqual([])
    }
  })
  expect(deletes).toBeGreaterThan(100)
})

it('skip is only answered after a success of that type and version that is still remembered and not undone', () => {
  let skips = 0
  checkRuns(operationCommand, (run) => {
    let successes: Success[] = []
    for (const step of randomSteps(run, { namespace: 'operation' })) {
      if (step.place.key !== 'a') continue
      const success = successOf(step)
      const before = successes
      if (success) {
        const isUndone = ({ type }: Success): boolean =>
          success.type === 'delete' || type === 'delete' || type === success.type
        successes = [...successes.filter((other) => !isUndone(other)), success]
      }
      for (const { type, version } of skipsOf(step)) {
        skips += 1
        const reason = [...before, ...successes].find(
          (other) => other.type === type && other.untilMs > step.nowMs && other.version === version,
        )
        expect(reason).toBeDefined()
      }
    }
  })
  expect(skips).toBeGreaterThan(100)
})

it('one resource runs one operation at a time', () => {
  checkRuns(operationCommand, (run) => {
    for (const { after } of randomSteps(run, { namespace: 'operation' })) {
      expect(after.holds.length).toBeLessThanOrEqual(1)
    }
  })
})
