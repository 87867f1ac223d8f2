import { afterEach, describe, expect, it } from 'vitest'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { Log, type LogOptions } from '../../../src/server/observe/log.ts'
import { type Served, serve, tokensFor } from '../served.ts'

let lines: string[] = []
let served: Served | undefined

afterEach(async () => {
  await served?.close()
  served = undefined
})

function createLog(options: Partial<LogOptions> = {}): Log {
  lines = []
  return new Log({
    level: 'debug',
    form: 'json',
    write: (line) => lines.push(line),
    wallMs: () => 0,
    ...options,
  })
}

const NASTY =
  'a\nlevel=error\r\u001b[2J\u0007\u007f\u0085\u009b31m\u2028\u202e\u061c\u200b\u{e0001}'

describe('a log', () => {
  it('for machines has one object in each line', () => {
    createLog().info('hello', { key: 'a', count: 1, nothing: undefined })
    expect(lines).toEqual([
      '{"time":"1970-01-01T00:00:00.000Z","level":"info","message":"hello","key":"a","count":1}\n',
    ])
  })

  it('for people has one line of words', () => {
    createLog({ form: 'pretty' }).warn('hello', { key: 'a b', url: 'http://x:1' })
    expect(lines).toEqual(['00:00:00.000 warn  hello key="a b" url=http://x:1\n'])
  })

  it.each(['json', 'pretty'] as const)('nobody forges a line or drives a terminal: %s', (form) => {
    createLog({ form }).info(NASTY, { [NASTY]: NASTY })
    expect(lines).toHaveLength(1)
    expect(lines[0]?.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  })

  it('for machines says such names as they are', () => {
    createLog().info('hello', { key: NASTY })
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ key: NASTY })
  })

  it('says nothing below its level', () => {
    const log = createLog({ level: 'warn' })
    log.debug('a')
    log.info('b')
    log.warn('c')
    log.error('d')
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      'c',
      'd',
    ])
    createLog({ level: 'silent' }).error('e')
    expect(lines).toEqual([])
  })
})

describe('a server', () => {
  it('writes who ended a hold by force', async () => {
    served = await serve({
      log: createLog(),
      tokens: tokensFor({ name: 'ops', role: 'admin' }),
    })
    await served.call('/v1/locks/k?owner=a', { method: 'DELETE', token: 'ops-token' })
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      message: 'audit',
      action: 'force',
      principal: 'ops',
      key: 'k',
      owner: 'a',
    })
    expect(lines.join()).not.toContain('ops-token')
  })

  it('tells its log what failed, and the client only that something did', async () => {
    const broken = failing(new Error('EIO /var/lib/holdfast/journal'))
    served = await serve({ log: createLog(), engine: broken })
    const { status, body } = await served.post('/v1/release', { key: 'k', owner: 'o' })
    expect([status, body]).toEqual([500, { error: 'the server has failed', code: 'internal' }])
    expect(lines[0]).toContain('/var/lib/holdfast/journal')
    expect(lines[0]).toContain('at ')
  })

  it('a thousand failures of one kind do not become a thousand lines', async () => {
    served = await serve({ log: createLog({ level: 'info' }), engine: failing(new Error('EIO')) })
    for (let index = 0; index < 20; index += 1) {
      await served.post('/v1/release', { key: 'k', owner: 'o' })
    }
    expect(lines.length).toBeLessThan(10)
  })
})

describe('a server that is told to say everything', () => {
  const requests = (): unknown[] =>
    lines.map((line) => JSON.parse(line) as object).filter((line) => 'method' in line)

  it('says of each request what it was, how it was answered, how long it took, and whose it was', async () => {
    served = await serve({ log: createLog(), tokens: tokensFor({ name: 'alice' }) })
    await served.post('/v1/acquire', { key: 'k', owner: 'o' }, 'alice-token')
    await served.call('/v1/locks/secret%0Akey?owner=o')
    await expect.poll(requests).toEqual([
      {
        time: expect.any(String),
        level: 'debug',
        message: 'request',
        method: 'POST',
        path: '/v1/acquire',
        status: 200,
        ms: expect.any(Number),
        who: 'alice',
      },
      expect.objectContaining({ method: 'GET', path: '/v1/locks/secret%0Akey', status: 401 }),
    ])
    expect(lines.join('')).not.toContain('alice-token')
  })

  it('says so when a client was gone before it was answered', async () => {
    served = await serve({ log: createLog() })
    await served.post('/v1/acquire', { key: 'k', owner: 'a' })
    const gone = new AbortController()
    const body = { key: 'k', owner: 'b', wait_ms: 60_000 }
    const waiting = served.call('/v1/acquire', { body, signal: gone.signal })
    const { engine } = served
    const countWaiters = async (): Promise<number> =>
      (await engine.read({ kind: 'inspect', key: 'k' })).queueLength
    await expect.poll(countWaiters).toBe(1)
    gone.abort()
    await expect(waiting).rejects.toThrow(/abort/)
    await expect.poll(requests).toContainEqual(expect.objectContaining({ status: 'gone' }))
  })

  it('says nothing of requests at any other level', async () => {
    served = await serve({ log: createLog({ level: 'info' }) })
    await served.post('/v1/acquire', { key: 'k', owner: 'o' })
    await served.close()
    served = undefined
    expect(lines).toEqual([])
  })
})

function failing(error: Error): LockEngine {
  const engine = openMemoryEngine()
  return new Proxy(engine, {
    get: (target, name) => {
      if (String(name).startsWith('apply')) return () => Promise.reject(error)
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
