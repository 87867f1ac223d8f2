import { type ChildProcess, spawn } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { REPOSITORY } from './source-file.ts'
import { createTemporaryFolder } from './temporary-project.ts'

/**
 * Stands in for npm and for the compiler that it installs. Each writes a line when it starts and
 * when it ends. While the file `hold` exists the install does not end; the file `broken` makes it
 * fail half-way.
 */
const FAKE_NPM = `
const fs = require('node:fs')
const log = (line) => fs.appendFileSync('../log', line + '\\n')
const compiler = \`
  const fs = require('node:fs')
  fs.appendFileSync('../log', 'build\\\\n')
  const out = process.argv[process.argv.indexOf('--outDir') + 1]
  fs.mkdirSync(out)
  fs.copyFileSync('src/index.ts', out + '/index.js')
\`
log('install ' + process.pid)
fs.rmSync('node_modules', { recursive: true, force: true })
fs.mkdirSync('node_modules/typescript/bin', { recursive: true })
if (fs.existsSync('../broken')) process.exit(7)
const finish = () => {
  fs.writeFileSync('node_modules/typescript/bin/tsc', compiler)
  log('installed')
}
const wait = () => (fs.existsSync('../hold') ? setTimeout(wait, 10) : finish())
wait()
`

const FILES: Readonly<Record<string, string>> = {
  'npm-cli.js': FAKE_NPM,
  'clone/package.json': '{ "name": "tiny", "engines": { "node": ">=20.19" } }',
  'clone/package-lock.json': '{}',
  'clone/tsconfig.json': '{}',
  'clone/tsconfig.build.json': '{}',
  'clone/src/index.ts': 'export {}',
}

export interface Bootstrap {
  readonly process: ChildProcess
  /** What it has printed up to now. */
  printed(): string
  readonly exitCode: Promise<number | null>
}

/** A tiny project with the real bootstrap script, as git leaves it after a clone. */
export class FreshClone {
  readonly #folder: string = createTemporaryFolder()

  constructor() {
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(this.#folder, path)), { recursive: true })
      writeFileSync(join(this.#folder, path), text)
    }
    mkdirSync(this.path('scripts'))
    copyFileSync(join(REPOSITORY, 'scripts/bootstrap.mjs'), this.path('scripts/bootstrap.mjs'))
  }

  /** A path in the clone; `../log`, `../hold` and `../broken` are beside it. */
  path(name: string): string {
    return join(this.#folder, 'clone', name)
  }

  write(name: string, text: string): void {
    writeFileSync(this.path(name), text)
  }

  start(nodeOptions: readonly string[] = []): Bootstrap {
    const args = [...nodeOptions, this.path('scripts/bootstrap.mjs'), '--build']
    const env = { ...process.env, npm_execpath: join(this.#folder, 'npm-cli.js') }
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let printed = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
    const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { process: child, printed: () => printed, exitCode }
  }

  /** What npm and the compiler did, without process ids. */
  readLog(): string[] {
    return this.#readLines().map((line) => line.split(' ')[0] ?? line)
  }

  async waitForInstall(): Promise<number> {
    const find = (): number => {
      const line = this.#readLines().findLast((found) => found.startsWith('install '))
      if (line === undefined) throw new Error('npm was not started')
      return Number(line.split(' ')[1])
    }
    return await vi.waitFor(find, { timeout: 60_000, interval: 10 })
  }

  #readLines(): string[] {
    if (!existsSync(this.path('../log'))) return []
    return readFileSync(this.path('../log'), 'utf8').trim().split('\n')
  }
}
