import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { toProgram } from './cli-process.ts'

/** What people type. */
export const CTRL_C = '\u0003'
export const CTRL_D = '\u0004'
export const CTRL_Z = '\u001a'

type Wrap = (words: readonly string[]) => readonly [string, ...string[]]

const PYTHON = `
import os, pty, sys
status = pty.spawn(sys.argv[1:])
sys.exit(os.waitstatus_to_exitcode(status))
`

/** Programs that run another one on a terminal of its own, whose keyboard is their standard input. */
function findWrap(): Wrap | undefined {
  const tell = (program: string): string =>
    spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? ''
  if (tell('script').includes('util-linux')) {
    return (words) => ['script', '-qefc', `exec ${words.map(quote).join(' ')}`, '/dev/null']
  }
  if (/^Python 3\.(9|\d\d)/.test(tell('python3'))) {
    return (words) => ['python3', '-c', PYTHON, ...words]
  }
  return undefined
}

const wrap = findWrap()

/** Whether this machine has a program that makes terminals. */
export const hasTerminals: boolean = wrap !== undefined

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

export interface TerminalProcessOptions {
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

/** `holdfast` as a person runs it at a terminal. */
export class TerminalProcess {
  readonly #process: ChildProcess
  /** The exit code of the command line. */
  readonly code: Promise<number | null>
  /** What the terminal shows: what is typed, standard output and standard error. */
  screen = ''

  constructor(args: readonly string[], { env, cwd }: TerminalProcessOptions) {
    if (wrap === undefined) throw new Error('there are no terminals on this machine')
    const [program, ...words] = wrap(toProgram(args))
    this.#process = spawn(program, words, {
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '', ...env },
      stdio: ['pipe', 'pipe', 'inherit'],
      cwd,
    })
    this.#process.stdout?.on('data', (chunk) => (this.screen += String(chunk)))
    this.#process.stdin?.on('error', () => {})
    this.code = new Promise((resolve) => this.#process.once('close', resolve))
  }

  type(text: string): void {
    this.#process.stdin?.write(text)
  }

  /** As when the window is closed. */
  hangUp(): void {
    this.#process.kill('SIGKILL')
  }
}
