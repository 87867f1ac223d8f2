import { afterAll, describe, it } from 'vitest'
import { HttpEngine } from '../../src/engines/remote/http-engine.ts'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import { createRemoteMemoryFixture, SharedHost } from './remote-fixtures.ts'

const host = new SharedHost()
const fixture = createRemoteMemoryFixture('over HTTP, memory:', host, (url, waitNowMs) =>
  HttpEngine.open(url, { waitNowMs }),
)

afterAll(() => host.stop())

runEngineSuites(fixture, { describe, it })
