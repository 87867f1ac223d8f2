import { execFileSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CliProcess, isAlive } from './cli-process.ts'
import { beat, RunRig } from './run-rig.ts'

const TIMEOUT_MS = 120_000
const BEAT = 'beat'
/** The margin of a deadline grows with the lease, and timers are late on a busy machine. */
const LEASE_MS = 6_000
/** A few of its heartbeats are further apart than such a lease is long: each lease is renewed by itself. */
const LONG_GRACE_MS = 30_000

let rig: RunRig

beforeEach(async () => {
  rig = await RunRig.open()
})

afterEach(() => rig.close())

async function reopen(sessionGraceMs: number): Promise<void> {
  await rig.close()
  rig = await RunRig.open(sessionGraceMs)
}

/** A runner whose command notes the time until it is killed. */
async function startBeating(...args: string[]): Promise<CliProcess> {
  const runner = rig.run(['a', ...args, '--', ...beat(BEAT)])
  await rig.lines(BEAT, 10)
  return runner
}

/** The time of day at which the command was last seen alive. */
async function lastBeatMs(): Promise<number> {
  const lines = await rig.lines(BEAT)
  return Math.max(
    ...lines
      .slice(1)
      .filter((line) => /^\d+$/.test(line))
      .map(Number),
  )
}

async function beaterPid(): Promise<number> {
  return Number((await rig.lines(BEAT))[0])
}

/** Waits for the lock on the engine itself, and says at what time of day it got it. */
async function grantedAtMs(): Promise<number> {
  const lock = await rig.locks.acquire('a', { wait: '1m' })
  const atMs = Date.now()
  await lock.release()
  return atMs
}

function childrenOf(pid: number): number[] {
  const found = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return found.trim().split(/\s+/).map(Number)
}

describe('a run that loses its lock', { timeout: TIMEOUT_MS }, () => {
  it('is ended at once when an operator takes the lock away', async () => {
    const runner = await startBeating('--ttl', '1h')
    expect(await rig.locks.forceRelease('a')).toBe(1)
    const forcedAtMs = Date.now()
    expect(await runner.code).toBe(79)
    expect(runner.stderr).toContain('an operator released it by force')
    // Without the ten seconds that a command is given to end by itself.
    expect((await lastBeatMs()) - forcedAtMs).toBeLessThan(8_000)
    expect(isAlive(await beaterPid())).toBe(false)
  })

  it('is asked to stop, then killed, before anyone else is granted the lock', async () => {
    await reopen(LONG_GRACE_MS)
    const runner = await startBeating('--ttl', `${LEASE_MS}ms`)
    const granted = grantedAtMs()
    await rig.untilQueued('a', 1)
    await rig.server.close()
    expect(await runner.code).toBe(79)
    const atMs = await granted
    expect(await lastBeatMs()).toBeLessThan(atMs)
    expect(await rig.lines(BEAT)).toContain('SIGTERM')
    expect(runner.stderr).toContain('could not be confirmed')
  })

  it('is killed in time although the runner itself is frozen', async () => {
    await reopen(LONG_GRACE_MS)
    const runner = await startBeating('--ttl', `${LEASE_MS}ms`)
    const granted = grantedAtMs()
    await rig.untilQueued('a', 1)
    runner.kill('SIGSTOP')
    const atMs = await granted
    expect(await lastBeatMs()).toBeLessThan(atMs)
    await rig.until(async () => !isAlive(await beaterPid()))
    runner.kill('SIGCONT')
    expect(await runner.code).toBe(79)
  })

  it('is killed in time although the runner is frozen, where heartbeats renew the lease', async () => {
    const runner = await startBeating('--ttl', `${LEASE_MS}ms`)
    const granted = grantedAtMs()
    await rig.untilQueued('a', 1)
    runner.kill('SIGSTOP')
    const atMs = await granted
    expect(await lastBeatMs()).toBeLessThan(atMs)
    runner.kill('SIGCONT')
    expect(await runner.code).toBe(79)
  })

  it('leaves no orphan when the runner is killed', async () => {
    const script = 'sleep 60 & echo $! >> pids; echo $$ >> pids; wait'
    const runner = rig.run(['a', '--', 'sh', '-c', script])
    const pids = (await rig.lines('pids', 2)).map(Number)
    runner.kill('SIGKILL')
    await rig.until(() => pids.every((pid) => !isAlive(pid)))
  })

  it('does not go on when the process between is killed', async () => {
    const runner = await startBeating()
    for (const pid of childrenOf(runner.pid)) process.kill(pid, 'SIGKILL')
    expect(await runner.code).toBe(70)
    await rig.until(async () => !isAlive(await beaterPid()))
    expect(await rig.isFree('a')).toBe(true)
  })

  it('is not suspended by the terminal', async () => {
    await reopen(LONG_GRACE_MS)
    const runner = await startBeating('--ttl', `${LEASE_MS}ms`)
    runner.kill('SIGTSTP')
    await rig.until(() => runner.stderr.includes('not suspended'))
    const sinceMs = Date.now()
    await rig.until(async () => (await lastBeatMs()) > sinceMs + 1.2 * LEASE_MS)
    expect(await rig.isFree('a')).toBe(false)
    runner.kill('SIGTERM')
    await rig.until(async () => (await rig.lines(BEAT)).includes('SIGTERM'))
    process.kill(await beaterPid(), 'SIGKILL')
    expect(await runner.code).toBe(137)
  })
})
