import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { InvalidArgumentError } from '../../src/engine/errors/errors.ts'
import { connect } from '../../src/locks/connect.ts'
import type { ConnectOptions } from '../../src/locks/options/lock-options.ts'
import type { Locks } from '../../src/locks/locks.ts'
import { rejectionOf } from './virtual-locks.ts'

async function open(url: string, options?: ConnectOptions): Promise<Locks> {
  const locks = await connect(url, options)
  onTestFinished(() => locks.close())
  return locks
}

async function makeDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast locks-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

describe('connect memory:', () => {
  it('is an engine of its own for every call', async () => {
    const [one, two] = [await open('memory:'), await open('memory:')]
    await one.acquire('a')
    expect(await two.tryAcquire('a')).not.toBeNull()
    expect(one.capabilities).toMatchObject({ durable: false, seesDeadlocks: true })
  })

  it('with a name is shared inside the process until the last one is closed', async () => {
    const [one, two] = [await open('memory:team'), await open('memory:team')]
    const other = await open('memory:other')
    await one.acquire('a')
    expect(await two.tryAcquire('a')).toBeNull()
    expect(await other.tryAcquire('a')).not.toBeNull()
    await one.close()
    await one.close()
    expect(await two.tryAcquire('b')).not.toBeNull()
    await two.close()
    expect(await (await open('memory:team')).tryAcquire('b')).not.toBeNull()
  })

  it('with a name is refused to those who want it otherwise', async () => {
    await open('memory:strict', { lanes: ['urgent'] })
    await open('memory:strict', { lanes: ['urgent'] })
    const error = await rejectionOf(connect('memory:strict', { lanes: ['other'] }))
    expect(error).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
  })

  it('takes the options of the engine, with durations as text', async () => {
    const locks = await open('memory:', {
      multiNode: false,
      retention: '5m',
      shards: 4,
      node: 'n1',
    })
    await locks.begin('pull', 'x')
    const busy = locks.begin('pull', 'x', { node: 'n2' })
    expect(await rejectionOf(busy)).toMatchObject({ code: 'LOCK_HELD' })
    expect(await rejectionOf(connect('memory:', { retention: '5 minutes' as '5m' }))).toMatchObject(
      {
        code: 'LOCK_INVALID_ARGUMENT',
        details: { option: 'retention' },
      },
    )
  })

  it('keeps the place of a queued operation for as long as it was told', async () => {
    const locks = await open('memory:', { waiterPatience: 1, claimWindow: '1s' })
    await locks.begin('pull', 'x', { node: 'n1' })
    await locks.begin('pull', 'x', { node: 'n2', wait: 0 })
    await expect
      .poll(async () => (await locks.inspect('x', { kind: 'operation' })).queueLength)
      .toBe(0)
  })

  it('has a lease for those who ask for none', async () => {
    const locks = await open('memory:', { ttl: '1m' })
    const lock = await locks.acquire('a')
    expect(lock.remainingMs).toBeGreaterThan(55_000)
  })

  it('refuses names that cannot be part of an owner', async () => {
    for (const options of [{ owner: '' }, { owner: 'x'.repeat(201) }, { node: '' }]) {
      expect(await rejectionOf(connect('memory:', options))).toMatchObject({
        code: 'LOCK_INVALID_ARGUMENT',
      })
    }
  })
})

describe('connect file:', () => {
  it('keeps what is held, whichever way the directory is written', async () => {
    const directory = await makeDirectory()
    const urls = [
      `file:${directory}`,
      `file:${relative(process.cwd(), directory)}`,
      pathToFileURL(directory).href,
    ]
    const first = await connect(urls[0] ?? '')
    const { token } = await first.acquire('a', { ttl: '1h' })
    expect(first.capabilities.durable).toBe(true)
    await first.close()
    for (const url of urls) {
      const locks = await connect(url)
      expect((await locks.inspect('a')).holders).toMatchObject([{ token }])
      await locks.close()
    }
  })

  it('belongs to one at a time', async () => {
    const directory = await makeDirectory()
    await open(`file:${directory}`)
    expect(await rejectionOf(connect(`file:${directory}`))).toMatchObject({
      code: 'LOCK_DIRECTORY_OWNED',
    })
  })

  it.each(['file:', 'file://elsewhere/locks'])('%s names no directory', async (url) => {
    expect(await rejectionOf(connect(url))).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
  })

  it('is closed again if the other options are wrong', async () => {
    const directory = await makeDirectory()
    expect(await rejectionOf(connect(`file:${directory}`, { ttl: -1 }))).toMatchObject({
      code: 'LOCK_INVALID_ARGUMENT',
    })
    await open(`file:${directory}`)
  })
})

describe('connect to anything else', () => {
  it.each(['cassandra://user:secret@host', 'constructor:', 'memory', '', 'C:\\locks'])(
    '%s is refused with the engines that are known, and without what the URL may hide',
    async (url) => {
      const error = await rejectionOf(connect(url))
      expect(error).toBeInstanceOf(InvalidArgumentError)
      expect(error).toMatchObject({ code: 'LOCK_UNKNOWN_ENGINE' })
      expect((error as Error).message).toMatch(/this version knows memory:, file:/)
      expect((error as Error).message).not.toMatch(/secret/)
    },
  )

  it('an address that is not text is refused too', async () => {
    expect(await rejectionOf(connect(undefined as unknown as string))).toMatchObject({
      code: 'LOCK_UNKNOWN_ENGINE',
    })
  })

  it('the scheme is read without regard to case', async () => {
    const locks = await open('MEMORY:')
    expect(locks.capabilities.name).toMatch(/memory/)
  })
})

describe('connect http:', () => {
  it.each([
    ['a query', 'http://127.0.0.1:8086/?transport=http'],
    ['a fragment', 'http://127.0.0.1:8086/#here'],
    ['a name and a password', 'https://user:hunter2@locks.example'],
    ['no host', 'http://'],
  ])('refuses an address with %s before it connects', async (_, url) => {
    const error = await rejectionOf(connect(url))
    expect(error).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
    expect((error as Error).message).toContain('http://127.0.0.1:8086')
    expect((error as Error).message).not.toContain('hunter2')
  })
})
