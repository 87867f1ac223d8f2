import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAlive } from './cli-process.ts'
import { RunRig } from './run-rig.ts'

const TIMEOUT_MS = 120_000

let rig: RunRig

beforeEach(async () => {
  rig = await RunRig.open()
})

afterEach(() => rig.close())

describe('run', { timeout: TIMEOUT_MS }, () => {
  it('runs the command under the lock, tells it the token, and passes its exit code on', async () => {
    const script = 'echo $HOLDFAST_KEY $HOLDFAST_TOKEN $HOLDFAST_OWNER $HOLDFAST_SERVER; exit 3'
    const first = rig.run(['a', '--owner', 'me', '--', 'sh', '-c', script])
    expect(await first.code, first.stderr).toBe(3)
    const [key, token, owner, server] = first.stdout.trim().split(' ')
    expect({ key, server }).toEqual({ key: 'a', server: rig.server.url })
    expect(owner).toMatch(/^me-/)
    expect(await rig.isFree('a')).toBe(true)
    const second = rig.run(['a', '--', 'sh', '-c', 'echo $HOLDFAST_TOKEN'])
    expect(await second.code).toBe(0)
    expect(Number(second.stdout)).toBeGreaterThan(Number(token))
    expect(first.stderr + second.stderr).toBe('')
  })

  it('is part of a pipe', async () => {
    const cat = rig.run(['a', '--', 'cat'], { input: 'through\n' })
    expect(await cat.code, cat.stderr).toBe(0)
    expect(cat.stdout).toBe('through\n')
  })

  it('shows operators what runs there', async () => {
    const runner = rig.run(['a', '--', 'sh', '-c', 'echo go > go; cat'], { input: '' })
    await rig.lines('go')
    expect(await runner.code).toBe(0)
    const sleeper = rig.run(['a', '--', 'sleep', '60'])
    await rig.until(async () => !(await rig.isFree('a')))
    const [holder] = (await rig.locks.inspect('a')).holders
    expect(JSON.parse(holder?.meta ?? '')).toMatchObject({ command: 'sleep', pid: sleeper.pid })
    sleeper.kill('SIGTERM')
    expect(await sleeper.code).toBe(143)
  })

  it('does not start the command when the lock is not acquired', async () => {
    const held = await rig.locks.acquire('a')
    for (const wait of ['0', '150ms']) {
      const runner = rig.run(['a', '--wait', wait, '--', 'touch', 'started'])
      expect(await runner.code).toBe(75)
      expect(runner.stderr).toContain(`"a"`)
      expect(runner.stderr).toContain(held.owner)
    }
    expect(existsSync(rig.path('started'))).toBe(false)
    await held.release()
  })

  it('shares a lock among readers', async () => {
    const held = await rig.locks.acquire('a', { mode: 'read' })
    const reader = rig.run(['a', '--mode', 'read', '--wait', '0', '--', 'true'])
    expect(await reader.code, reader.stderr).toBe(0)
    const writer = rig.run(['a', '--wait', '0', '--', 'true'])
    expect(await writer.code).toBe(75)
    await held.release()
  })

  it('says 127 and 126 as a shell does, and releases the lock', async () => {
    const missing = rig.run(['a', '--', 'no-such-command'])
    expect(await missing.code).toBe(127)
    expect(missing.stderr).toBe('holdfast: no-such-command: command not found\n')
    const folder = rig.run(['a', '--', rig.directory])
    expect(await folder.code).toBe(126)
    expect(await rig.isFree('a')).toBe(true)
  })

  it('says 126 when the arguments are more than the system takes', async () => {
    const huge = 'x'.repeat(120_000)
    const runner = rig.run(['a', '--', 'sh', '-c', `exec true ${'"$0" '.repeat(40)}`, huge])
    expect([126, 127]).toContain(await runner.code)
    expect(await rig.isFree('a')).toBe(true)
  })

  it('says 69 when there is no server', async () => {
    const env = { HOLDFAST_SERVER: 'http://127.0.0.1:1' }
    const runner = rig.run(['a', '--wait', '1s', '--', 'touch', 'started'], { env })
    expect(await runner.code, runner.stderr).toBe(69)
    expect(runner.stderr).toContain('start a server with "holdfast serve"')
    expect(existsSync(rig.path('started'))).toBe(false)
  })

  it('gives up without an answer when a server that does not answer is interrupted', async () => {
    const deaf = createServer(() => {})
    await new Promise<void>((resolve) => deaf.listen(0, '127.0.0.1', resolve))
    const { port } = deaf.address() as AddressInfo
    const env = { HOLDFAST_SERVER: `http://127.0.0.1:${port}` }
    const connected = new Promise((resolve) => deaf.once('connection', resolve))
    const runner = rig.run(['a', '--', 'touch', 'started'], { env })
    await connected
    const interruptedAtMs = Date.now()
    runner.kill('SIGINT')
    expect(await runner.code).toBe(130)
    expect(Date.now() - interruptedAtMs).toBeLessThan(8_000)
    deaf.close()
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGQUIT', 131],
  ] as const)('gives up its place when %s comes while it waits', async (signal, code) => {
    const held = await rig.locks.acquire('a')
    const runner = rig.run(['a', '--', 'touch', 'started'])
    await rig.untilQueued('a', 1)
    runner.kill(signal)
    expect(await runner.code).toBe(code)
    expect((await rig.locks.inspect('a')).queueLength).toBe(0)
    await held.release()
    expect(existsSync(rig.path('started'))).toBe(false)
  })

  it('passes signals on to the whole group while the command runs', async () => {
    const child = `trap 'echo child >> heard' TERM; echo child >> ready; while :; do sleep 0.05; done`
    const leave = 'echo leader >> heard; until grep -q child heard; do sleep 0.05; done; exit 7'
    const script = `sh -c "${child}" & trap '${leave}' TERM
      echo leader >> ready; while :; do sleep 0.05; done`
    const runner = rig.run(['a', '--grace', '300ms', '--', 'sh', '-c', script])
    await rig.lines('ready', 2)
    runner.kill('SIGTERM')
    expect(await runner.code, runner.stderr).toBe(7)
    expect((await rig.lines('heard', 2)).toSorted()).toEqual(
      expect.arrayContaining(['child', 'leader']),
    )
    expect(await rig.isFree('a')).toBe(true)
  })

  it('says 128 and the number of the signal that ended the command', async () => {
    // Not a shell: one that is hit between two commands runs the second one first.
    const runner = rig.run(['a', '--', 'sleep', '60'])
    await rig.until(async () => !(await rig.isFree('a')))
    runner.kill('SIGINT')
    expect(await runner.code).toBe(130)
    const killed = rig.run(['a', '--', 'sh', '-c', 'kill -KILL $$'])
    expect(await killed.code).toBe(137)
  })

  it('ends what the command left behind before it releases the lock', async () => {
    const script = 'sleep 60 & echo $! > left; exit 5'
    const runner = rig.run(['a', '--', 'sh', '-c', script])
    expect(await runner.code, runner.stderr).toBe(5)
    const [left] = await rig.lines('left')
    expect(isAlive(Number(left))).toBe(false)
    expect(await rig.isFree('a')).toBe(true)
  })

  it('kills what does not want to end, after the grace', async () => {
    const stubborn = `trap '' TERM; echo $$ > left; while :; do sleep 0.05; done`
    const script = `sh -c "${stubborn.replace('$$', String.raw`\$\$`)}" & while [ ! -s left ]; do sleep 0.05; done`
    const runner = rig.run(['a', '--grace', '200ms', '--', 'sh', '-c', script])
    expect(await runner.code, runner.stderr).toBe(0)
    const [left] = await rig.lines('left')
    await rig.until(() => !isAlive(Number(left)))
  })

  it('never overlaps with another run, and tokens grow', async () => {
    const script = `echo begin $HOLDFAST_TOKEN >> log; sleep 0.03; echo end $HOLDFAST_TOKEN >> log`
    const runners = Array.from({ length: 4 }, () => rig.run(['a', '--', 'sh', '-c', script]))
    for (const runner of runners) expect(await runner.code, runner.stderr).toBe(0)
    const lines = (await readFile(rig.path('log'), 'utf8')).trim().split('\n')
    expect(lines).toHaveLength(8)
    const tokens = lines.filter((_, index) => index % 2 === 0).map((line) => line.split(' ')[1])
    expect(lines).toEqual(tokens.flatMap((token) => [`begin ${token}`, `end ${token}`]))
    expect(tokens.map(Number)).toEqual(tokens.map(Number).toSorted((a, b) => a - b))
  })
})
