import { afterAll, describe, expect, it } from 'vitest'
import { SessionEngine } from '../../src/engines/remote/session-engine.ts'
import { createTally, openThroughFaults } from './fixtures/faulty-engine.ts'
import { createRemoteMemoryFixture, SharedHost } from './fixtures/remote-fixtures.ts'
import { runStoreSuites } from './fixtures/run-store-suites.ts'

const SEED = process.env['HOLDFAST_FAULT_SEED'] ?? 'faults'
const host = new SharedHost()
const tally = createTally()
const open = openThroughFaults(
  (url) => SessionEngine.open(url, { retryForMs: 60_000 }),
  SEED,
  tally,
)

afterAll(() => host.stop())

const fixture = createRemoteMemoryFixture(`over a session through faults (${SEED})`, host, open)

runStoreSuites({ ...fixture, patienceMs: 20_000 }, { describe, it })

it('every fault happened, and calls succeeded before, during and after', () => {
  for (const [what, count] of Object.entries(tally)) expect(count, what).toBeGreaterThan(20)
})
