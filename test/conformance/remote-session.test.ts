import { afterAll, describe, it } from 'vitest'
import { SessionEngine } from '../../src/engines/remote/session-engine.ts'
import { runEngineSuites } from '../../src/testing/engine-suite/run-engine-suites.ts'
import {
  createRemoteFileFixture,
  createRemoteMemoryFixture,
  type OpenRemote,
  SharedHost,
} from './fixtures/remote-fixtures.ts'

const host = new SharedHost()
const open: OpenRemote = (url) => SessionEngine.open(url)

afterAll(() => host.stop())

runEngineSuites(createRemoteMemoryFixture('over a session, memory:', host, open), { describe, it })
runEngineSuites(createRemoteFileFixture('over a session, file:', host, open), { describe, it })
