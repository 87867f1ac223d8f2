import { afterAll, describe, it } from 'vitest'
import { SessionEngine } from '../../src/engines/remote/session-engine.ts'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import { FaultyNetwork } from './faulty-network.ts'
import { createRemoteMemoryFixture, SharedHost } from './remote-fixtures.ts'

const host = new SharedHost()
const network = new FaultyNetwork()
const open = network.through((url) => SessionEngine.open(url, { retryForMs: 60_000 }))
const fixture = createRemoteMemoryFixture('over a session that breaks', host, open)

afterAll(async () => {
  await host.stop()
  network.assertFaults()
})

runEngineSuites({ ...network.wrap(fixture), patienceMs: 20_000 }, { describe, it })
