import { expect, it } from 'vitest'
import { PlainWorld } from '../world/plain-world.ts'
import {
  checkRuns,
  LANES,
  lockCommand,
  mixedOperationCommand,
  operationCommand,
  slowOperationCommand,
} from './random-run.ts'
import { randomSteps } from './random-steps.ts'

it('law and naive model agree on locks in long random runs', () => {
  let steps = 0
  checkRuns(lockCommand, (run) => {
    for (const _ of randomSteps(run, { namespace: 'lock', comparesWithModel: true })) steps += 1
  })
  expect(steps).toBeGreaterThan(5_000)
})

it('law and naive model agree on lanes in long random runs', () => {
  let grants = 0
  checkRuns(lockCommand, (run) => {
    const settings = { lanes: LANES, openPatienceMs: 15_000 }
    for (const { decision } of randomSteps(run, {
      namespace: 'lock',
      settings,
      comparesWithModel: true,
    })) {
      grants += decision.changes.filter((change) => change.kind === 'lane-passed').length
    }
  })
  expect(grants).toBeGreaterThan(100)
})

it.each([
  ['operations', operationCommand, {}],
  ['slow operations', slowOperationCommand, { waiterPatienceMs: 60_000 }],
  ['operations of all kinds', mixedOperationCommand, {}],
  ['operations that are soon forgotten', mixedOperationCommand, { retentionMs: 3_000 }],
] as const)('law and naive model agree on %s in long random runs', (_, commands, settings) => {
  let skips = 0
  checkRuns(commands, (run) => {
    for (const { decision } of randomSteps(run, {
      namespace: 'operation',
      settings,
      comparesWithModel: true,
    })) {
      skips += decision.outcome.kind === 'skip' ? 1 : 0
    }
  })
  expect(skips).toBeGreaterThan(100)
})

const FULL = { holdersPerKeyMax: 2, waitersPerKeyMax: 3, referencesPerResourceMax: 1 }

it.each([
  ['lock', lockCommand],
  ['operation', mixedOperationCommand],
] as const)('law and naive model agree on a full %s in long random runs', (namespace, commands) => {
  let refusals = 0
  checkRuns(commands, (run) => {
    const options = { namespace, settings: FULL, comparesWithModel: true }
    for (const { decision } of randomSteps(run, options)) {
      const { outcome } = decision
      refusals += outcome.kind === 'refused' && outcome.code === 'limit' ? 1 : 0
    }
  })
  expect(refusals).toBeGreaterThan(20)
})

it('a view that shows more as due than is due changes no answer and no state', () => {
  checkRuns(lockCommand, (run) => {
    const plain = new PlainWorld()
    const eager = new PlainWorld({ showsAllAsDue: true })
    let nowMs = 1_000
    for (const command of run) {
      if (command.kind === 'tick') nowMs += command.ms
      if (command.kind !== 'acquire' && command.kind !== 'release') continue
      if (command.kind === 'acquire' && command.session !== undefined) continue
      expect(eager.run(command, nowMs).outcome).toEqual(plain.run(command, nowMs).outcome)
      expect(eager.state('lock', command.key)).toEqual(plain.state('lock', command.key))
    }
  })
})
