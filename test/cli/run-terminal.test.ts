import { existsSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isAlive } from './cli-process.ts'
import { RunRig } from './run-rig.ts'
import { CTRL_C, CTRL_D, CTRL_Z, hasTerminals, TerminalProcess } from './terminal-process.ts'

const TIMEOUT_MS = 120_000

let rig: RunRig
const terminals: TerminalProcess[] = []

beforeEach(async () => {
  rig = await RunRig.open()
})

afterEach(async () => {
  for (const terminal of terminals.splice(0)) {
    terminal.hangUp()
    await terminal.code
  }
  await rig.close()
})

/** `holdfast run a …` */
function run(...args: readonly string[]): TerminalProcess {
  const env = { HOLDFAST_SERVER: rig.server.url }
  const terminal = new TerminalProcess(['run', 'a', ...args], { env, cwd: rig.directory })
  terminals.push(terminal)
  return terminal
}

describe.runIf(hasTerminals)('run, at a terminal', { timeout: TIMEOUT_MS }, () => {
  it('gives up its place at Ctrl-C while it waits', async () => {
    const held = await rig.locks.acquire('a')
    const terminal = run('--', 'touch', 'started')
    await rig.untilQueued('a', 1)
    terminal.type(CTRL_C)
    expect(await terminal.code, terminal.screen).toBe(130)
    expect((await rig.locks.inspect('a')).queueLength).toBe(0)
    await held.release()
    expect(existsSync(rig.path('started'))).toBe(false)
  })

  it('passes Ctrl-C on to the command, once', async () => {
    const script = `trap 'echo heard >> heard' INT; echo $$ > ready
      until [ -s heard ]; do sleep 0.05; done; sleep 0.3; exit 9`
    const terminal = run('--', 'sh', '-c', script)
    const [pid] = await rig.lines('ready')
    terminal.type(CTRL_C)
    expect(await terminal.code, terminal.screen).toBe(9)
    expect(await rig.lines('heard')).toEqual(['heard'])
    expect(isAlive(Number(pid))).toBe(false)
    expect(await rig.isFree('a')).toBe(true)
  })

  it('ends a command that knows nothing of Ctrl-C, and all it started', async () => {
    const terminal = run('--', 'sh', '-c', 'sleep 60 & echo $! > ready; sleep 60')
    const [pid] = await rig.lines('ready')
    terminal.type(CTRL_C)
    expect(await terminal.code, terminal.screen).toBe(130)
    expect(isAlive(Number(pid))).toBe(false)
    expect(await rig.isFree('a')).toBe(true)
  })

  it('lets the command read what is typed', async () => {
    const script = '[ -t 0 ] && [ -t 1 ] && echo ready > ready; read line; echo "<$line>"; cat'
    const terminal = run('--', 'sh', '-c', script)
    await rig.lines('ready')
    terminal.type('one line\n')
    await rig.until(() => terminal.screen.includes('<one line>'))
    terminal.type(`another${'\n'}`)
    // Once as it is typed, once as it comes back.
    await rig.until(() => terminal.screen.split('another').length === 3)
    terminal.type(CTRL_D)
    expect(await terminal.code, terminal.screen).toBe(0)
  })

  it('goes on at Ctrl-Z, and says so', async () => {
    const script = 'echo $$ > ready; while [ ! -e stop ]; do echo x >> beats; sleep 0.05; done'
    const terminal = run('--', 'sh', '-c', script)
    await rig.lines('ready')
    terminal.type(CTRL_Z)
    await rig.until(() => terminal.screen.includes('not suspended'))
    const { length } = await rig.lines('beats')
    await rig.lines('beats', length + 3)
    expect(await rig.isFree('a')).toBe(false)
    terminal.type(CTRL_C)
    expect(await terminal.code, terminal.screen).toBe(130)
  })

  it('leaves nothing behind when the terminal is closed', async () => {
    const terminal = run('--', 'sh', '-c', 'sleep 60 & echo $! > ready; echo $$ >> ready; wait')
    const pids = await rig.lines('ready', 2)
    terminal.hangUp()
    await rig.until(() => !pids.some((pid) => isAlive(Number(pid))))
    await rig.until(() => rig.isFree('a'))
  })
})
