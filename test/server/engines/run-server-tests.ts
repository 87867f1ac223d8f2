import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openSqlEngine } from '../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'
import type { Clock } from '../../../src/time/clock.ts'
import { SharedDatabase } from '../../conformance/fixtures/sql-fixtures.ts'
import type { ServerKind, TestServer } from '../../engines/sql/test-servers.ts'
import { chooseTestEngine } from '../test-engine.ts'

const HERE = new URL('../', import.meta.url)
const START_MS_MAX = 60_000
const isLong = process.env['HOLDFAST_TEST_DOSE'] === 'long'

/** The small dose: every call, waiting, operations, sessions that come back. */
const DOSE: readonly string[] = [
  'locks/lock-bodies.test.ts',
  'locks/waiting.test.ts',
  'operations/status-and-references.test.ts',
  'sessions/coming-back.test.ts',
]

/**
 * Those that are about engines and several servers themselves, those that use no engine, and those that
 * push a server to its own bounds by thousands of requests, in real time.
 */
const LEFT_OUT = /^(engines|cluster|tls|streams|fuzz)|^sessions\/flow/

/** Runs the tests of the server on a database of this kind, which is empty whenever it is opened. */
export function runServerTests(kind: ServerKind): void {
  let server: TestServer
  beforeAll(async () => {
    server = await kind.start()
  }, START_MS_MAX)
  const engines: LockEngine[] = []
  afterAll(async () => {
    // Some tests leave theirs open, and a database that is in use cannot be removed.
    for (const engine of engines) await engine.close()
    await server.stop()
  })

  let where: string | undefined
  const open = (): Promise<SqlDatabase> => kind.open(where ?? '')
  const shared = new SharedDatabase(open)
  chooseTestEngine(async ({ settings, clock }) => {
    if (where === undefined) where = await server.create()
    else await (await shared.create()).remove()
    const options =
      clock === undefined ? { settings } : { settings, clock: atWall(clock), isClockOurs: true }
    const engine = await openSqlEngine(open, options)
    engines.push(engine)
    return engine
  })
  for (const file of isLong ? listTestFiles() : DOSE) {
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
