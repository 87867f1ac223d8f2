import { mkdtempSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { POSTGRES, type TestServer } from '../engines/sql/test-servers.ts'
import { findFreePort } from '../services/free-port.ts'
import { CliProcess, isAlive } from './cli-process.ts'
import { beat } from './run-rig.ts'
import { post, ServeRig, type Serving } from './serve/served-process.ts'

const TIMEOUT_MS = 120_000
const TTL_MS = 10_000
/** Longer than the grace of the session, which is for waiters, and than a restart takes. */
const OUTAGE_MS = 3_000
const GRACE_MS = 500
/** How late an answer may be on a busy machine. */
const SLACK_MS = 10_000
const PATIENCE = { timeout: 60_000, interval: 50 }

/** Where a server keeps its locks, and how it goes away. */
interface Store {
  readonly name: string
  readonly end: NodeJS.Signals
  /** The options of `holdfast serve`, for a place that is empty. */
  readonly create: (directory: string) => Promise<readonly string[]>
}

let postgres: TestServer

const STORES: readonly Store[] = [
  {
    name: 'file:',
    end: 'SIGKILL',
    create: async (directory) => ['--data', join(directory, 'data')],
  },
  {
    name: 'postgres:',
    end: 'SIGTERM',
    create: async () => ['--engine', await postgres.create()],
  },
]

beforeAll(async () => {
  postgres = await POSTGRES.start()
}, TIMEOUT_MS)

afterAll(() => postgres.stop())

describe.each(STORES)('holdfast run, whose server is on $name', ({ end, create }) => {
  const rig = new ServeRig()
  let directory: string
  let options: readonly string[]
  let port: number
  let serving: Serving
  let runner: CliProcess

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-outage-'))
    options = await create(directory)
    port = await findFreePort()
    serving = await serve()
    const words = ['run', 'job', '--ttl', `${TTL_MS}ms`, '--', ...beat('beat')]
    runner = new CliProcess(words, { cwd: directory, env: { HOLDFAST_SERVER: serving.url } })
    await expect.poll(async () => (await beats()).length, PATIENCE).toBeGreaterThan(10)
  }, TIMEOUT_MS)

  afterEach(async () => {
    runner.kill('SIGKILL')
    await runner.code
    await rig.close()
    rmSync(directory, { recursive: true, force: true })
  })

  function serve(): Promise<Serving> {
    const grace = `${GRACE_MS}ms`
    return rig.serve(['--port', String(port), '--session-grace', grace, ...options])
  }

  /** The lines that the command has written. */
  async function beats(): Promise<string[]> {
    const text = await readFile(join(directory, 'beat'), 'utf8').catch(() => '')
    return text.split('\n').slice(0, -1)
  }

  /** Resolves when the command was seen alive at that time of day, and throws if the run ends before. */
  async function untilBeatAt(atMs: number): Promise<void> {
    await expect
      .poll(async () => {
        if (runner.hasEnded) throw new Error(`the run has ended: ${runner.stderr}`)
        return Number((await beats()).at(-1))
      }, PATIENCE)
      .toBeGreaterThan(atMs)
  }

  async function tokens(): Promise<unknown> {
    const shown = await (await fetch(`${serving.url}/v1/locks/job`)).json()
    return (shown as { holders: { token: number }[] }).holders.map(({ token }) => token)
  }

  it(
    'loses nothing by an outage that is shorter than the ttl',
    async () => {
      const before = await tokens()
      expect(before).toHaveLength(1)
      serving.started.kill(end)
      await serving.started.code
      const goneAtMs = Date.now()
      await untilBeatAt(goneAtMs + OUTAGE_MS)
      serving = await serve()
      // The lease that ran when the server went away would be over by now.
      await untilBeatAt(goneAtMs + 1.5 * TTL_MS)
      expect(await tokens()).toEqual(before)
      expect(await beats()).not.toContain('SIGTERM')
      expect(runner.stderr).not.toContain('lost')
    },
    TIMEOUT_MS,
  )

  it(
    'leaves its lock to the next one when the ttl has passed after it was killed',
    async () => {
      const [child] = await beats()
      const [token] = (await tokens()) as number[]
      const next = { key: 'job', owner: 'next', wait_ms: 60_000 }
      const granted = post(serving.url, '/v1/acquire', next)
      runner.kill('SIGKILL')
      const killedAtMs = Date.now()
      const answer = await (await granted).json()
      expect(answer).toMatchObject({ outcome: 'granted' })
      expect((answer as { token: number }).token).toBeGreaterThan(token ?? 0)
      const waitedMs = Date.now() - killedAtMs
      // A closed socket is no good-bye: the lease runs out, and no session grace cuts it short.
      expect(waitedMs).toBeGreaterThan(TTL_MS / 2)
      expect(waitedMs).toBeLessThan(TTL_MS + SLACK_MS)
      await expect.poll(() => isAlive(Number(child)), PATIENCE).toBe(false)
    },
    TIMEOUT_MS,
  )
})
