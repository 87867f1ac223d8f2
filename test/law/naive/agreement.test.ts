import { expect, it } from 'vitest'
import { TYPES_PER_RESOURCE_MAX } from '../../../src/law/model/limits.ts'
import type { RandomCommand } from './random-run.ts'
import { type RandomStep, randomSteps } from './random-steps.ts'

/** Short runs on which law and naive model once differed. */

function begin(type: string, node: string): RandomCommand {
  return { kind: 'begin', type, node, resource: 'a', ttlMs: 1_000 }
}

function finish(type: string, node: string): RandomCommand {
  return { kind: 'finish', type, node, resource: 'a', success: true, value: `"${node}"` }
}

/** The last step of a run on which all agree. */
function runToEnd(run: readonly RandomCommand[], retentionMs = 300_000): RandomStep {
  const settings = { retentionMs }
  const steps = randomSteps(run, { namespace: 'operation', settings, comparesWithModel: true })
  const last = [...steps].at(-1)
  if (last === undefined) throw new Error('nothing was decided')
  return last
}

/** The delete of n runs out, the one of m follows and is cancelled, and the pull behind it skips. */
const CANCELLED_DELETE: readonly RandomCommand[] = [
  begin('pull', 'm'),
  finish('pull', 'm'),
  { kind: 'unref', resource: 'a', node: 'm' },
  begin('delete', 'n'),
  begin('delete', 'm'),
  begin('pull', 'm'),
  { kind: 'tick', ms: 2_500 },
  { kind: 'cancel', namespace: 'operation', key: 'a', owner: 'delete:m' },
]

it('a delete that is granted and undone in one step is followed by a pull that skips', () => {
  const { decision, after } = runToEnd(CANCELLED_DELETE)
  const kinds = decision.changes.map((change) => change.kind)
  expect(kinds).toEqual([
    'hold-ended',
    'hold-set',
    'waiter-gone',
    'hold-ended',
    'reference-set',
    'waiter-gone',
  ])
  expect(after.references).toMatchObject([{ node: 'm' }])
})

it('a success whose time is over is forgotten by whatever comes next', () => {
  const done = [begin('pull', 'm'), finish('pull', 'm')]
  const almost: RandomCommand = { kind: 'tick', ms: 1_999 }
  const last: RandomCommand = { kind: 'tick', ms: 1 }
  const remembering = runToEnd([...done, almost, begin('pull', 'm')], 2_000)
  expect(remembering.decision.outcome).toEqual({ kind: 'skip', value: '"m"' })
  const forgetting = runToEnd([...done, almost, last, begin('pull', 'm')], 2_000)
  expect(forgetting.decision.outcome).toMatchObject({ kind: 'granted' })
  expect(forgetting.after.remembered).toEqual([])
})

it('a success whose time is over takes no place from another type', () => {
  const types = Array.from({ length: TYPES_PER_RESOURCE_MAX }, (_, index) => `type-${index}`)
  const done = types.flatMap((type) => [begin(type, 'm'), finish(type, 'm')])
  const full = runToEnd([...done, begin('other', 'm')], 2_000)
  expect(full.decision.outcome).toMatchObject({ code: 'limit' })
  const emptied = runToEnd([...done, { kind: 'tick', ms: 2_000 }, begin('other', 'm')], 2_000)
  expect(emptied.decision.outcome).toMatchObject({ kind: 'granted' })
})
