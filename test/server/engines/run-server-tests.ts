import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe } from 'vitest'
import { openSqlEngine } from '../../../src/engines/sql/open-sql-engine.ts'
import type { Clock } from '../../../src/time/clock.ts'
import type { ServerKind, TestServer } from '../../engines/sql/test-servers.ts'
import { chooseTestEngine } from '../test-engine.ts'

const HERE = new URL('../', import.meta.url)
const START_MS_MAX = 60_000
const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'

/** The small dose: waiting, pushing, sessions that come back, the clients in the field. */
const DOSE: readonly string[] = []

/** Those that are about this engine and several servers, and those that use no engine. */
const LEFT_OUT = /^(engines|cluster|tls)\//

/** Runs the tests of the server, each of them on an empty database of this kind. */
export function runServerTests(kind: ServerKind, only?: RegExp): void {
  let server: TestServer
  beforeAll(async () => {
    server = await kind.start()
  }, START_MS_MAX)
  afterAll(() => server.stop())

  chooseTestEngine(async ({ settings, clock }) => {
    const where = await server.create()
    const options =
      clock === undefined ? { settings } : { settings, clock: atWall(clock), isClockOurs: true }
    return openSqlEngine(() => kind.open(where), options)
  })
  for (const file of isLong || only ? listTestFiles() : DOSE) {
    if (only && !only.test(file)) continue
    describe(file, async () => {
      await import(/* @vite-ignore */ new URL(file, HERE).href)
    })
  }
}

/** The clock of a database knows the time of day and nothing else. */
function atWall(clock: Clock): Clock {
  return {
    nowMs: () => clock.wallMs(),
    wallMs: () => clock.wallMs(),
    setTimer: (delayMs, callback) => clock.setTimer(delayMs, callback),
  }
}

function listTestFiles(): string[] {
  return readdirSync(fileURLToPath(HERE), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !LEFT_OUT.test(file))
    .sort()
}
