import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { CliProcess } from './cli-process.ts'

const TIMEOUT_MS = 240_000
const WAIT = { timeout: 60_000, interval: 20 }

let directory: string
let url: string
const servers: CliProcess[] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-cli-'))
  url = await serve()
}, TIMEOUT_MS)

afterAll(async () => {
  for (const server of servers) server.kill('SIGTERM')
  for (const server of servers) expect(await server.code, server.stderr).toBe(0)
  await rm(directory, { recursive: true, force: true })
}, TIMEOUT_MS)

/** Resolves to the address of a server. */
function serve(...args: string[]): Promise<string> {
  const all = ['serve', '--port', '0', '--engine', 'memory:', ...args]
  const server = new CliProcess(all, { cwd: directory })
  servers.push(server)
  return vi.waitFor(() => {
    const [, found] = /^listening on (http:\S+)$/m.exec(server.stdout) ?? []
    if (found === undefined) throw new Error(`not ready: ${server.stderr}`)
    return found
  }, WAIT)
}

function start(...args: string[]): CliProcess {
  return new CliProcess(args, { cwd: directory, env: { HOLDFAST_SERVER: url } })
}

async function print(...args: string[]): Promise<string> {
  const started = start(...args)
  expect(await started.code, started.stderr).toBe(0)
  return started.stdout
}

describe('the commands and a server in a process of its own', { timeout: TIMEOUT_MS }, () => {
  it('show who holds and who waits, watch, force and remember', async () => {
    const watcher = start('watch', '--prefix', 'nightly', '--json')
    // The first event that it prints shows that it listens.
    const probe = vi.waitFor(async () => {
      await print('run', 'nightly-probe', '--', 'true')
      expect(watcher.stdout).toContain('nightly-probe')
    }, WAIT)
    probe.catch(() => {})
    const hanging = start('run', 'nightly', '--owner', 'batch-1', '--', 'sleep', '600')
    await vi.waitFor(async () => expect(await print('show', 'nightly')).toContain('batch-1'), WAIT)
    const next = start('run', 'nightly', '--owner', 'batch-2', '--', 'echo', 'my turn')
    const waiting = await vi.waitFor(async () => {
      const shown = await print('show', 'nightly')
      expect(shown).toContain('1 waiting:')
      return shown
    }, WAIT)
    expect(waiting).toMatch(/^batch-1-\S+ +write .*"command":"sleep"/m)
    expect(waiting).toMatch(/^1 +batch-2-\S+ +write/m)
    expect(await print('ls')).toMatch(/^nightly +lock +write +batch-1-\S+ .* 1 +\d+$/m)
    expect(waiting).not.toContain('\u001B')
    await probe
    expect(await print('release', '--force', 'nightly')).toBe('Released nightly: 1 hold ended.\n')
    expect(await hanging.code).toBe(79)
    expect(await next.code).toBe(0)
    expect(next.stdout).toBe('my turn\n')
    const history = await print('history', 'nightly')
    expect(history).toMatch(/^nightly +batch-2-\S+ +write .* released +\d+$/m)
    expect(history).toMatch(/^nightly +batch-1-\S+ +write .* forced +\d+$/m)
    await vi.waitFor(() => expect(watcher.stdout).toContain('"event":"forced"'), WAIT)
    watcher.kill('SIGTERM')
    expect(await watcher.code).toBe(143)
    const events = watcher.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(events.every((event) => 'event' in event && 'at' in event && 'key' in event)).toBe(true)
  })

  it('measure it', async () => {
    const { results } = JSON.parse(await print('bench', '--duration', '100ms', '--json')) as {
      readonly results: readonly { readonly locks: number }[]
    }
    expect(results.map(({ locks }) => locks > 0)).toEqual([true, true, true])
  })

  it('end quietly when their output is not read any more', async () => {
    const watcher = start('watch')
    await vi.waitFor(async () => {
      await print('run', 'probe', '--', 'true')
      expect(watcher.stdout).toContain('probe')
    }, WAIT)
    watcher.stopReading()
    await vi.waitFor(async () => {
      await print('run', 'probe', '--', 'true')
      expect(watcher.hasEnded).toBe(true)
    }, WAIT)
    expect({ code: await watcher.code, stderr: watcher.stderr }).toEqual({ code: 141, stderr: '' })
  })
})

describe('a server that asks for tokens', { timeout: TIMEOUT_MS }, () => {
  const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex')

  it('is told the token by the environment or a file, and a wrong or weak one ends with 77', async () => {
    const tokens = [
      { name: 'ops', role: 'admin', sha256: sha256('the-admin-token') },
      { name: 'app', role: 'client', sha256: sha256('the-client-token') },
    ]
    await writeFile(join(directory, 'tokens.json'), JSON.stringify({ tokens }))
    await writeFile(join(directory, 'admin-token'), 'the-admin-token\n')
    const server = await serve('--tokens', 'tokens.json')
    const code = async (token: string | undefined, ...args: string[]): Promise<unknown> => {
      const env = token === undefined ? {} : { HOLDFAST_AUTH_TOKEN: token }
      const started = new CliProcess([...args, '--server', server], { cwd: directory, env })
      const ended = await started.code
      expect(started.stdout + started.stderr).not.toContain('-token')
      return ended
    }
    expect(await code(undefined, 'ls')).toBe(77)
    expect(await code('some-other-token', 'ls')).toBe(77)
    expect(await code('the-client-token', 'ls')).toBe(0)
    expect(await code('the-client-token', 'release', '--force', 'a')).toBe(77)
    expect(await code(undefined, 'release', '--force', 'a', '--token-file', 'admin-token')).toBe(0)
  })
})
