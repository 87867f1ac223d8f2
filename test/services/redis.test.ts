import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, it } from 'vitest'
import { type RedisOptions, startRedis } from './redis.ts'
import { OWN, type OwnServer, type Service } from './service.ts'
import { isRunning, listRemains, waitUntil } from './service-facts.ts'

const started: Service[] = []
const clients: Redis[] = []

afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect()
  await Promise.all(started.splice(0).map((service) => service.stop()))
})

async function start(options: RedisOptions = {}): Promise<Service> {
  const service = await startRedis({ ...OWN, ...options })
  started.push(service)
  return service
}

function connect(service: Service): Redis {
  const client = new Redis(service.url, { retryStrategy: null, maxRetriesPerRequest: 0 })
  client.on('error', () => {})
  clients.push(client)
  return client
}

describe('a Redis of our own', () => {
  it('answers', async () => {
    const client = connect(await start())
    expect(await client.ping()).toBe('PONG')
  })

  it.each([
    ['no', { appendonly: 'no' }],
    ['always', { appendonly: 'yes', appendfsync: 'always' }],
  ] as const)('keeps as much as it is told to: %s', async (appendonly, settings) => {
    const client = connect(await start({ appendonly }))
    const [, save] = (await client.config('GET', 'save')) as string[]
    expect(save).toBe('')
    for (const [name, value] of Object.entries(settings)) {
      expect(await client.config('GET', name)).toEqual([name, value])
    }
  })

  it('leaves nothing behind when it is stopped, however often', async () => {
    const service = await start()
    expect(await listRemains(service)).toHaveLength(3)
    await service.stop()
    expect(await listRemains(service)).toEqual([])
    await service.stop()
  })

  it('has nothing in common with another one', async () => {
    const [one, other] = await Promise.all([start(), start()])
    expect(one.port).not.toBe(other.port)
    await connect(one).set('key', 'one')
    expect(await connect(other).get('key')).toBeNull()
    await one.stop()
    expect(await connect(other).ping()).toBe('PONG')
  })

  it('answers nothing while it is paused, and everything afterwards', async () => {
    const service = await start()
    const client = connect(service)
    await client.ping()
    service.pause()
    let isAnswered = false
    const answer = client.ping().finally(() => {
      isAnswered = true
    })
    await waitUntil(() => client.stream.writableLength === 0)
    expect(isAnswered).toBe(false)
    service.resume()
    expect(await answer).toBe('PONG')
  })

  it('stops while it is paused', async () => {
    const service = await start()
    service.pause()
    await service.stop()
    expect(await listRemains(service)).toEqual([])
  })

  it('is gone when it is killed, and its data only when it is stopped', async () => {
    const service = await start()
    await service.kill()
    expect(await listRemains(service)).toEqual(['its directory'])
    await service.stop()
    expect(await listRemains(service)).toEqual([])
  })
})

describe('a process that started a Redis', () => {
  const OWNER = fileURLToPath(new URL('./redis-owner.ts', import.meta.url))

  /** Runs a process that starts a server, tells us about it and ends in some way. */
  function runOwner(end: string): Promise<OwnServer> {
    const args = ['--import', 'tsx', OWNER, end]
    return new Promise((resolve, reject) => {
      execFile(process.execPath, args, (_, stdout, stderr) => {
        if (stdout === '') reject(new Error(stderr))
        else resolve(JSON.parse(stdout) as OwnServer)
      })
    })
  }

  it.each(['return', 'throw', 'SIGTERM', 'SIGKILL'])(
    'takes it along when it ends by %s',
    async (end) => {
      const { pid, directory } = await runOwner(end)
      await waitUntil(() => !isRunning(pid) && !existsSync(directory))
    },
  )
})

describe('a Redis that the environment names', () => {
  const environment = { HOLDFAST_TEST_REDIS_URL: 'redis://127.0.0.1:7001/3' }

  it('is handed out as it is and left alone', async () => {
    const service = await start({ environment })
    expect(service).toMatchObject({ url: 'redis://127.0.0.1:7001/3', port: 7001 })
    expect(service.own).toBeUndefined()
    await service.stop()
    await expect(service.kill()).rejects.toThrow('not ours')
    expect(() => service.pause()).toThrow('not ours')
  })

  it('is not taken for one that keeps everything', async () => {
    const url = 'redis://127.0.0.1:7002'
    const both = { ...environment, HOLDFAST_TEST_REDIS_AOF_URL: url }
    expect((await start({ environment: both, appendonly: 'always' })).url).toBe(url)
  })
})

describe('a machine without Redis', () => {
  it('is told what to do', async () => {
    const cache = mkdtempSync(join(tmpdir(), 'holdfast-cache-'))
    const starting = start({ environment: { PATH: '' }, cache })
    await expect(starting).rejects.toThrow(/redis-server.*HOLDFAST_TEST_REDIS_URL.*apt-get/)
    rmSync(cache, { recursive: true })
  })
})
