import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connect } from '../../src/locks/connect.ts'
import type { ConnectOptions } from '../../src/locks/options/lock-options.ts'
import type { Locks } from '../../src/locks/locks.ts'
import { MYSQL, POSTGRES, SQLITE } from '../engines/sql/test-servers.ts'
import { useServer } from '../engines/sql/use-server.ts'
import { findFreePort } from '../services/free-port.ts'
import { runProgram } from './run-program.ts'
import { rejectionOf } from './virtual-locks.ts'

const PROGRAM_MS_MAX = 60_000

async function open(url: string, options?: ConnectOptions): Promise<Locks> {
  const locks = await connect(url, options)
  onTestFinished(() => locks.close())
  return locks
}

describe.each([
  { kind: SQLITE, toUrls: (file: string) => [`sqlite:${file}`, `SQLITE:${file}`], wakeMs: 25 },
  {
    kind: POSTGRES,
    toUrls: (url: string) => [url, url.replace('postgres:', 'postgresql:')],
    wakeMs: 0,
  },
  { kind: MYSQL, toUrls: (url: string) => [url, url.replace('mysql:', 'mariadb:')], wakeMs: 50 },
])('connect to a database of $kind.name', ({ kind, toUrls, wakeMs }) => {
  const server = useServer(kind)

  async function createUrls(): Promise<[string, string]> {
    return toUrls(await server.create()) as [string, string]
  }

  it('is the same locks for all who name it, by either name', async () => {
    const [url, other] = await createUrls()
    const [one, two] = [await open(url), await open(other)]
    const held = await one.acquire('orders/42')
    expect(await two.tryAcquire('orders/42')).toBeNull()
    const waiting = two.acquire('orders/42')
    await expect.poll(async () => (await one.inspect('orders/42')).queueLength).toBe(1)
    await held.release()
    const next = await waiting
    expect(next.token).toBeGreaterThan(held.token)
    expect(one.capabilities).toMatchObject({
      name: kind.name,
      durable: true,
      shared: true,
      seesDeadlocks: false,
      wakeDelayMsMax: wakeMs,
    })
  })

  it('takes what it is told of the law, keeps history unasked, and has no use for shards', async () => {
    const [url] = await createUrls()
    const locks = await open(url, { multiNode: false, shards: 4, node: 'n1', waitersPerKeyMax: 7 })
    expect(locks.capabilities.waitersPerKeyMax).toBe(7)
    await locks.begin('pull', 'x')
    const busy = locks.begin('pull', 'x', { node: 'n2' })
    expect(await rejectionOf(busy)).toMatchObject({ code: 'LOCK_HELD' })
    await (await locks.acquire('k')).release()
    expect(await locks.history({ key: 'k' })).toHaveLength(1)
    const wrong = connect(url, { lanes: ['a', 'a'] })
    expect(await rejectionOf(wrong)).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
  })

  it('does not keep a process alive that holds a lock and watches', {
    timeout: PROGRAM_MS_MAX,
  }, async () => {
    const [url] = await createUrls()
    const ended = await runProgram(
      `
      await locks.acquire('a', { ttl: 10_000 })
      locks.watch()
      await locks.inspect('a')
      console.log('held')
    `,
      { url },
    )
    expect(ended).toEqual({ code: 0, output: 'held' })
  })

  it('keeps those alive who close it, until it is closed', {
    timeout: PROGRAM_MS_MAX,
  }, async () => {
    const [url] = await createUrls()
    const ended = await runProgram(
      `
      await locks.acquire('a')
      await new Promise((resolve) => setTimeout(resolve, 50))
      await locks.close()
      console.log('closed')
    `,
      { url },
    )
    expect(ended).toEqual({ code: 0, output: 'closed' })
  })

  it('keeps those alive who wait, until they are granted', {
    timeout: PROGRAM_MS_MAX,
  }, async () => {
    const [url] = await createUrls()
    const ended = await runProgram(
      `
      await locks.acquire('a', { ttl: 5000, renew: false })
      locks.acquire('a').then(() => console.log('granted'))
    `,
      { url },
    )
    expect(ended).toEqual({ code: 0, output: 'granted' })
  })
})

describe('connect sqlite:', () => {
  it('keeps what is held, whichever way the file is written', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast sqlite-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const file = join(directory, 'locks.db')
    const urls = [
      `sqlite:${file}`,
      `sqlite:${relative(process.cwd(), file)}`,
      pathToFileURL(file).href.replace('file:', 'sqlite:'),
    ]
    const first = await connect(urls[0] ?? '')
    const { token } = await first.acquire('a', { ttl: '1h' })
    await first.close()
    for (const url of urls) {
      const locks = await connect(url)
      expect((await locks.inspect('a')).holders).toMatchObject([{ token }])
      await locks.close()
    }
  })

  it('a file that cannot be opened is an error of ours', async () => {
    const error = await rejectionOf(connect('sqlite:/nowhere/at/all/locks.db'))
    expect(error).toMatchObject({ code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'no' })
  })
})

describe('an address of a database', () => {
  it.each([
    'sqlite:',
    'sqlite::memory:',
    'sqlite://elsewhere/locks.db',
    'postgres:',
    'postgres:user:hunter2@host/database',
    'postgres://user:hunter2#@host/database',
    'mysql://user:hunter2/@host:port/database',
    'mysql://user:hunter2@host',
    'mariadb://user:hunter2@host/',
  ])('%s is refused, without what it may hide', async (url) => {
    const error = await rejectionOf(connect(url))
    expect(error).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
    expect(inspect(error, { depth: 10 })).not.toContain('hunter2')
  })

  it.each(['postgres', 'mysql'])(
    'where no server listens is unavailable, and a password in it stays secret: %s',
    async (scheme) => {
      const url = `${scheme}://user:hunter2@127.0.0.1:${await findFreePort()}/database`
      const error = await rejectionOf(connect(url))
      expect(error).toMatchObject({ code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'no' })
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('hunter2')
    },
  )
})

describe('a package that is not installed', () => {
  it.each([
    ['sqlite:./never.db', '@photostructure/sqlite', '@photostructure/sqlite kysely'],
    ['sqlite:./never.db', 'kysely', 'kysely'],
    ['postgres://user:hunter2@127.0.0.1:1/database', 'pg', 'pg kysely'],
    ['mysql://user:hunter2@127.0.0.1:1/database', 'mysql2', 'mysql2 kysely'],
  ])(
    '%s without %s says what to install',
    { timeout: PROGRAM_MS_MAX },
    async (url, name, install) => {
      const body = `
      await connect(${JSON.stringify(url)}).catch((error) => console.log(error.code, error.message))`
      const { code, output } = await runProgram(body, { without: [name] })
      expect(code).toBe(0)
      expect(output).toMatch(/^LOCK_UNKNOWN_ENGINE /)
      expect(output).toContain(`package ${name},`)
      expect(output.endsWith(`npm install ${install}`)).toBe(true)
    },
  )

  it('is not missed by a program that does not need it', { timeout: PROGRAM_MS_MAX }, async () => {
    const without = ['kysely', 'pg', 'mysql2', '@photostructure/sqlite']
    const ended = await runProgram(`console.log((await locks.acquire('a')).token)`, { without })
    expect(ended).toEqual({ code: 0, output: '1' })
  })
})
