import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import type { Command } from '../../../src/law/model/commands.ts'
import { HoldQuota } from '../../../src/server/access/hold-quota.ts'
import type { Principal } from '../../../src/server/access/principal.ts'
import { ListTurns } from '../../../src/server/access/list-turns.ts'
import { PrincipalEngine } from '../../../src/server/access/principal-engine.ts'
import { PrincipalView } from '../../../src/server/access/principal-view.ts'
import { RefusalDetails } from '../../../src/server/access/refusal-details.ts'
import { DEFAULT_LIMITS } from '../../../src/server/server-limits.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const RUNS = 1_000
const HOLDS = 3

const key = fc.constantFrom('a', 'b', 'c', 'd', 'e')
const owner = fc.constantFrom('n', 'm')
const mode = fc.constantFrom('read' as const, 'write' as const)
const requestId = fc.constantFrom('1', '2', '3', '4')
const maybeId = fc.option(requestId, { nil: undefined })

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('acquire'), key, owner, mode, requestId }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ kind: fc.constant('acquire'), key, owner, mode, requestId },
      ...{ waitMs: fc.constant(60_000), detach: fc.constant(true) },
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('release'), key, owner, requestId: maybeId }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ kind: fc.constant('begin'), type: fc.constant('pull'), resource: key, node: owner },
      requestId: maybeId,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ kind: fc.constant('finish'), type: fc.constant('pull'), resource: key, node: owner },
      ...{ success: fc.constant(false), requestId: maybeId },
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel'), key, owner }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('force'), key }) },
) as fc.Arbitrary<Command>

const PRINCIPALS: readonly Principal[] = [
  { name: undefined, role: 'admin', prefixes: undefined },
  { name: 'alice', role: 'admin', prefixes: undefined },
]

it.each(PRINCIPALS)(
  'no command passes the limit on holds of $name, however many overlap',
  async (principal) => {
    const batches = fc.array(fc.array(command, { minLength: 1, maxLength: 8 }), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(batches, async (played) => {
        const engine = openMemoryEngine()
        const lists = new ListTurns(engine)
        const holds = new HoldQuota({ engine, lists, limit: HOLDS, nowMs: () => 0 })
        await holds.open()
        const asked = new PrincipalEngine({
          ...{ engine, principal, holds, lists, refusals: new RefusalDetails(new VirtualClock()) },
          view: new PrincipalView(principal, () => new Set(['alice'])),
          limits: { ...DEFAULT_LIMITS, holds: HOLDS },
          audit: () => {},
          onLimit: () => {},
        })
        for (const batch of played) {
          await Promise.all(batch.map(async (one) => asked.apply(one)))
          expect((await engine.read({ kind: 'stats' })).holds).toBeLessThanOrEqual(HOLDS)
        }
        for (const one of ['a', 'b', 'c', 'd', 'e']) {
          for (const namespace of ['lock', 'operation'] as const) {
            await engine.apply({ kind: 'force', key: one, namespace })
          }
        }
        const fresh = { kind: 'acquire', key: 'f', owner: 'n', requestId: 'last' } as const
        expect(await asked.apply(fresh)).toMatchObject({ kind: 'granted' })
        await engine.close()
      }),
      { numRuns: RUNS },
    )
  },
)
