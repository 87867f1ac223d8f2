import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runCli } from '../../src/cli/run-cli.ts'
import type { LockEngine } from '../../src/engine/engine.ts'
import { openMemoryEngine } from '../../src/engines/embedded/embedded-engine.ts'
import { connect } from '../../src/locks/connect.ts'
import type { Locks } from '../../src/locks/locks.ts'
import { LockServer } from '../../src/server/lock-server.ts'
import { CapturedIo, type CapturedOptions } from './captured-io.ts'

let servers = 0
let server: string
let locks: Locks

beforeEach(async () => {
  servers += 1
  server = `memory:cli-${servers}`
  locks = await connect(server, { owner: 'node-1' })
})

afterEach(() => locks.close())

async function run(args: readonly string[], options: CapturedOptions = {}): Promise<CapturedIo> {
  const io = new CapturedIo({ ...options, env: { HOLDFAST_SERVER: server, ...options.env } })
  expect(await runCli(args, io), io.stderr.text).toBe(0)
  return io
}

async function runJson(...args: string[]): Promise<Record<string, unknown>> {
  const { lines } = await run([...args, '--json'])
  expect(lines).toHaveLength(1)
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>
}

describe('ls', () => {
  it('says that there is nothing where there is nothing, and prints no table', async () => {
    const { stdout, stderr } = await run(['ls'])
    expect(stdout.text).toBe('')
    expect(stderr.text).toBe('Nothing is held or waited for.\n')
    expect(await runJson('ls')).toEqual({ locks: [], cursor: null })
  })

  it('shows who holds what, for how long, and how many wait', async () => {
    const lock = await locks.acquire('orders/42', { ttl: '1m' })
    const waiting = locks.acquire('orders/42')
    await locks.acquire('orders/43', { mode: 'read' })
    await locks.acquire('orders/43', { mode: 'read' })
    await locks.begin('pull', 'layer', { node: 'node-9' })
    const { lines } = await run(['ls'])
    expect(lines[0]).toMatch(/^KEY +KIND +MODE +HELD BY +FOR +LEASE +WAITING +TOKEN$/)
    expect(lines[1]).toMatch(/^layer +operation +write +pull:node-9 +\S+ +\S+ +0 +\d+$/)
    expect(lines[2]).toMatch(/^orders\/42 +lock +write +node-1-\S+ +[\d.]+m?s +(5\ds|1m) +1 +\d+$/)
    expect(lines[3]).toMatch(/^orders\/43 +lock +read +node-1-\S+ and 1 more +/)
    await lock.release()
    await (await waiting).release()
  })

  it('is narrowed by prefix, owner and kind', async () => {
    const lock = await locks.acquire('orders/1')
    await locks.acquire('orders/2')
    await locks.acquire('bills/1')
    await locks.begin('pull', 'orders/3')
    const keysOf = async (...args: string[]): Promise<unknown> => {
      const body = (await runJson('ls', ...args)) as { readonly locks: { readonly key: string }[] }
      return body.locks.map(({ key }) => key)
    }
    expect(await keysOf('--prefix', 'orders/')).toEqual(['orders/1', 'orders/2', 'orders/3'])
    expect(await keysOf('--owner', lock.owner)).toEqual(['orders/1'])
    expect(await keysOf('--kind', 'operation')).toEqual(['orders/3'])
  })

  it('names the owner of an operation as the other commands take it', async () => {
    await locks.begin('pull', 'layer', { node: 'node-9' })
    const { lines } = await run(['ls', '--owner', 'pull:node-9'])
    expect(lines[1]).toContain('pull:node-9')
    const released = await run(['release', '--force', 'layer', '--owner', 'pull:node-9'])
    expect(released.stdout.text).toBe('Released the operation on layer: 1 hold ended.\n')
  })

  it('shows the token of the holder it names, and none where there is none', async () => {
    const first = await locks.acquire('a', { mode: 'read' })
    const second = await locks.acquire('a', { mode: 'read' })
    expect(second.token).toBeGreaterThan(first.token)
    const { lines } = await run(['ls'])
    expect(lines[1]).toMatch(new RegExp(`${first.owner} and 1 more .* ${first.token}$`))
  })

  it('has pages, or everything at once', async () => {
    for (let index = 0; index < 7; index += 1) await locks.acquire(`key-${index}`)
    const { lines, stderr } = await run(['ls', '--limit', '3'])
    expect(lines).toHaveLength(4)
    expect(stderr.text).toContain('There are more')
    const page = await runJson('ls', '--limit', '3')
    expect(page['cursor']).toEqual(expect.any(String))
    const next = await runJson('ls', '--limit', '3', '--cursor', String(page['cursor']))
    expect(next['locks']).toEqual(
      [3, 4, 5].map((index) => expect.objectContaining({ key: `key-${index}` })),
    )
    expect((await run(['ls', '--limit', '3', '--all'])).lines).toHaveLength(8)
  })

  it('colours only on a terminal', async () => {
    await locks.acquire('a')
    expect((await run(['ls'])).stdout.text).not.toContain('\u001B')
    expect((await run(['ls'], { columns: 80 })).stdout.text).toContain('\u001B')
  })

  it('prefers --server to the environment', async () => {
    await locks.acquire('a')
    const { stderr } = await run(['ls', '--server', 'memory:'])
    expect(stderr.text).toBe('Nothing is held or waited for.\n')
  })
})

describe('show', () => {
  it('says of a free key that it is free', async () => {
    const { lines } = await run(['show', 'a'])
    expect(lines).toEqual(['a  lock, free', '', 'No waiters.'])
  })

  it('shows holders, queue, ages, leases, tokens and what a holder says of itself', async () => {
    const lock = await locks.acquire('a', { ttl: '1m', meta: { why: 'test' } })
    const waiting = locks.acquire('a', { mode: 'read' })
    const { lines } = await run(['show', 'a'])
    expect(lines[0]).toBe(`a  lock, held, token ${lock.token}`)
    expect(lines[2]).toMatch(/^HELD BY +MODE +SINCE +FOR +LEASE LEFT +TOKEN +SAYS$/)
    const time = String.raw`\d\d:\d\d:\d\d`
    expect(lines[3]).toMatch(
      new RegExp(
        `^${lock.owner} +write +${time} +[\\d.]+m?s +(5\\ds|1m) +${lock.token} +{"why":"test"}$`,
      ),
    )
    expect(lines[5]).toBe('1 waiting:')
    expect(lines[6]).toMatch(/^# +WAITING +MODE +SINCE +FOR$/)
    expect(lines[7]).toMatch(new RegExp(`^1 +node-1-\\S+ +read +${time} +[\\d.]+m?s$`))
    await lock.release()
    await (await waiting).release()
  })

  it('cuts a long queue and says how long it is', async () => {
    const lock = await locks.acquire('a')
    const stop = new AbortController()
    const waits = Array.from({ length: 5 }, () => locks.acquire('a', { signal: stop.signal }))
    const { stdout } = await run(['show', 'a', '--queue', '2'])
    expect(stdout.text).toContain('5 waiting, the first 2:')
    stop.abort()
    await Promise.allSettled(waits)
    await lock.release()
  })

  it('shows the references of a resource and what was done', async () => {
    const begun = await locks.begin('pull', 'layer', { node: 'node-1', version: '2' })
    if (begun.kind === 'acquired') await begun.operation.finish({ success: true })
    const { stdout } = await run(['show', '--kind', 'operation', 'layer'])
    expect(stdout.text).toContain('layer  operation, free')
    expect(stdout.text).toContain('Referenced by node-1')
    expect(stdout.text).toMatch(/Remembered: pull of version 2 by node-1, [\d.]+m?s ago/)
  })

  it('finds an operation by itself where there is no lock of that name', async () => {
    await locks.begin('pull', 'layer', { node: 'node-1' })
    const { lines } = await run(['show', 'layer'])
    expect(lines[0]).toMatch(/^layer {2}operation, held/)
    expect(lines[3]).toMatch(/^pull:node-1 +write/)
    expect(await runJson('show', 'layer')).toMatchObject({ kind: 'operation' })
    const asked = await run(['show', 'layer', '--kind', 'lock'])
    expect(asked.lines[0]).toMatch(/^layer {2}lock, free/)
  })

  it('shows the lock where there are both, and says so', async () => {
    await locks.begin('pull', 'layer')
    await locks.acquire('layer')
    const { lines } = await run(['show', 'layer'])
    expect(lines[0]).toMatch(/^layer {2}lock, held/)
    expect(lines.at(-1)).toBe('There is an operation of the same name: see --kind operation.')
    expect(await runJson('show', 'layer')).toMatchObject({ kind: 'lock' })
  })

  it('gives machines the same as the server does', async () => {
    const lock = await locks.acquire('a', { meta: { why: 'test' } })
    expect(await runJson('show', 'a')).toEqual({
      kind: 'lock',
      key: 'a',
      token: lock.token,
      holders: [
        expect.objectContaining({
          owner: lock.owner,
          mode: 'write',
          token: lock.token,
          since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
          lease_ms: expect.any(Number),
          meta: { why: 'test' },
        }),
      ],
      queue: [],
      queue_length: 0,
    })
  })
})

describe('release', () => {
  it('refuses without --force, explains, and changes nothing', async () => {
    await locks.acquire('a')
    const io = new CapturedIo({ env: { HOLDFAST_SERVER: server } })
    expect(await runCli(['release', 'a'], io)).toBe(64)
    expect(io.stderr.text).toContain('--force')
    expect(io.stderr.text).toContain('\n  See first who it is:  holdfast show KEY\n')
    expect((await locks.inspect('a')).holders).toHaveLength(1)
  })

  it('ends every hold, or one owner’s', async () => {
    const first = await locks.acquire('a', { mode: 'read' })
    await locks.acquire('a', { mode: 'read' })
    const one = await run(['release', '--force', 'a', '--owner', first.owner])
    expect(one.stdout.text).toBe('Released a: 1 hold ended.\n')
    expect((await locks.inspect('a')).holders).toHaveLength(1)
    expect(await runJson('release', '--force', 'a')).toEqual({ forced: 1 })
    const none = await run(['release', '--force', 'a'])
    expect(none.stdout.text).toBe('Nothing to release: a has no holder.\n')
  })

  it('says whose a hold is that the named owner does not have', async () => {
    await locks.begin('pull', 'layer', { node: 'node-1' })
    const { stdout } = await run(['release', '--force', 'layer', '--owner', 'node-1'])
    expect(stdout.text).toBe(
      'Nothing to release: node-1 does not hold layer. It is held by pull:node-1.\n',
    )
  })

  it('ends an operation, with or without being told that it is one', async () => {
    await locks.begin('pull', 'layer')
    expect(await runJson('release', '--force', '--kind', 'lock', 'layer')).toEqual({ forced: 0 })
    expect(await runJson('release', '--force', 'layer')).toEqual({ forced: 1 })
    await locks.begin('pull', 'layer')
    expect(await runJson('release', '--force', '--kind', 'operation', 'layer')).toEqual({
      forced: 1,
    })
  })

  it('ends the lock where there are both, and says so', async () => {
    await locks.begin('pull', 'layer')
    await locks.acquire('layer')
    const { lines } = await run(['release', '--force', 'layer'])
    expect(lines).toEqual([
      'Released layer: 1 hold ended.',
      'There is an operation of the same name: see --kind operation.',
    ])
    expect((await locks.inspect('layer', { kind: 'operation' })).holders).toHaveLength(1)
  })
})

describe('history', () => {
  let keeping: LockServer
  let engine: LockEngine

  beforeEach(async () => {
    engine = openMemoryEngine({ settings: {}, history: true })
    keeping = await LockServer.open({ engine })
    server = keeping.url
  })

  afterEach(async () => {
    await keeping.close()
    await engine.close()
  })

  it('shows the latest ends first', async () => {
    await using held = await connect(server, { owner: 'node-2' })
    await held.withLock('a', async () => {})
    const lock = await held.acquire('b')
    await held.forceRelease('b')
    const { lines } = await run(['history'])
    expect(lines[0]).toMatch(/^KEY +HELD BY +MODE +FROM +FOR +END +TOKEN$/)
    expect(lines[1]).toMatch(new RegExp(`^b +${lock.owner} +write +[\\d:]+ +[\\d.]+m?s +forced +`))
    expect(lines[2]).toMatch(/^a +node-2-\S+ +write +[\d:]+ +[\d.]+m?s +released +\d+$/)
    expect((await run(['history', 'a'])).lines).toHaveLength(2)
    expect((await run(['history', '--limit', '1'])).lines).toHaveLength(2)
    expect(await runJson('history', 'b')).toEqual({
      history: [expect.objectContaining({ key: 'b', owner: lock.owner, end: 'forced' })],
    })
  })

  it('says when nothing has ended, and when no history is kept', async () => {
    expect((await run(['history'])).stderr.text).toBe('Nothing has ended lately.\n')
    expect(await runJson('history')).toEqual({ history: [] })
    const forgetful = await run(['history', '--server', 'memory:'])
    expect(forgetful.stderr.text).toBe('This engine keeps no history.\n')
  })

  it('is kept in a data directory, and shown without a server', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-history-'))
    try {
      await using kept = await connect(`file:${directory}`, { history: true })
      await kept.withLock('a', async () => {})
      await kept.close()
      const { lines } = await run(['history', '--server', `file:${directory}`])
      expect(lines[1]).toMatch(/^a +\S+ +write .* released +\d+$/)
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })
})

describe('watch', () => {
  async function watch(args: readonly string[], act: () => Promise<void>): Promise<string[]> {
    const io = new CapturedIo({ env: { HOLDFAST_SERVER: server }, columns: 200 })
    const watching = runCli(['watch', ...args], io)
    await expect.poll(() => io.stderr.text).toContain('Watching')
    await act()
    await expect.poll(() => io.stdout.text).toContain('released')
    io.raise('SIGINT')
    expect(await watching).toBe(130)
    return io.lines
  }

  it('prints each change on a line, until it is interrupted', async () => {
    const lines = await watch(['--prefix', 'orders/'], async () => {
      await locks.withLock('bills/1', async () => {})
      await locks.withLock('orders/1', async () => {})
    })
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/granted .*orders\/1.* node-1-\S+ +write +token \d+/)
    expect(lines[1]).toMatch(/released .*orders\/1/)
  })

  it('goes on after a restart of the server', async () => {
    const engine = openMemoryEngine({ settings: {} })
    const first = await LockServer.open({ engine })
    const { port } = first.address
    server = first.url
    const io = new CapturedIo({ env: { HOLDFAST_SERVER: server }, columns: 200 })
    const watching = runCli(['watch'], io)
    await expect.poll(() => io.stderr.text).toContain('Watching')
    await first.close()
    const second = await LockServer.open({ engine, port })
    await using again = await connect(server)
    await expect
      .poll(async () => {
        await again.withLock('b', async () => {})
        return io.stdout.text
      })
      .toContain('granted')
    io.raise('SIGTERM')
    expect(await watching).toBe(143)
    await again.close()
    await second.close()
    await engine.close()
  })

  it('prints JSON lines for machines', async () => {
    const lines = await watch(['--json', '--kind', 'lock'], async () => {
      await locks.withLock('a', async () => {})
    })
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
      expect.objectContaining({
        event: 'granted',
        kind: 'lock',
        key: 'a',
        mode: 'write',
        at: expect.stringMatching(/Z$/),
      }),
      expect.objectContaining({ event: 'released', key: 'a' }),
    ])
  })
})

describe('bench', () => {
  it('says what it does, measures it, and leaves nothing behind', async () => {
    const { lines, stderr } = await run(['bench', '--duration', '50ms'])
    expect(stderr.text).toContain('64 workers acquire and release keys of their own')
    expect(lines[0]).toMatch(/^LOAD +WORKERS +LOCKS +LOCKS\/S +MEDIAN +P99 +LONGEST$/)
    expect(lines.slice(1).map((line) => line.split(/ {2,}/)[0])).toEqual([
      'alone',
      'side by side',
      'hot key',
    ])
    expect(await runJson('ls')).toEqual({ locks: [], cursor: null })
  })

  it.each(['http://db.internal:8086', 'postgres://db.internal/locks', 'http://127.evil.example'])(
    'leaves %s alone unless told otherwise',
    async (far) => {
      const io = new CapturedIo({ env: { HOLDFAST_SERVER: far } })
      expect(await runCli(['bench'], io)).toBe(64)
      expect(io.stderr.text).toContain('say --yes')
    },
  )

  it('knows that a database in a file is not on another machine', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-bench-'))
    try {
      const args = ['bench', '--duration', '10ms', '--server', `sqlite:${directory}/locks.db`]
      expect((await run(args)).lines).toHaveLength(4)
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })

  it('gives machines numbers', async () => {
    const { results, keys } = await runJson('bench', '--duration', '50ms')
    expect(keys).toMatch(/^holdfast-bench\/.+\/$/)
    expect(results).toHaveLength(3)
    expect((results as unknown[])[2]).toEqual({
      name: 'hot key',
      workers: 32,
      locks: expect.any(Number),
      seconds: expect.any(Number),
      locks_per_second: expect.any(Number),
      wait_ms: { median: expect.any(Number), p99: expect.any(Number), max: expect.any(Number) },
    })
  })
})
