import { afterEach, describe, expect, it } from 'vitest'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { Log, type LogOptions } from '../../../src/server/log/log.ts'
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
    const nasty = 'a\nlevel=error\r\u001b[2J\u0007\u007f\u0085\u009b31m\u2028\u202e'
    createLog({ form }).info(nasty, { [nasty]: nasty })
    expect(lines).toHaveLength(1)
    // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(lines[0]?.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e]/)
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
    served = await serve({ log: createLog(), engine: failing(new Error('EIO')) })
    for (let index = 0; index < 20; index += 1) {
      await served.post('/v1/release', { key: 'k', owner: 'o' })
    }
    expect(lines.length).toBeLessThan(10)
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
