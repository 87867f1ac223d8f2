import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { compiledFile } from '../services/compiled-file.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const RUN_MS_MAX = 50_000

export interface Ended {
  readonly code: number | null
  readonly output: string
}

export interface ProgramOptions {
  /** What `locks` is connected to; an engine in memory by default. */
  readonly url?: string
  /** Packages that cannot be found, as if they were not installed. */
  readonly without?: readonly string[]
}

/** Runs a program in a process of its own, in which `locks` is connected; what it prints, and how it ends. */
export function runProgram(body: string, options: ProgramOptions = {}): Promise<Ended> {
  const { url = 'memory:', without = [] } = options
  const program = `
    import { connect } from ${JSON.stringify(compiledFile('index.js').href)}
    const locks = await connect(${JSON.stringify(url)})
    ${body}
  `
  const child = spawn(
    process.execPath,
    [...hide(without), '--input-type=module', '--eval', program],
    { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], timeout: RUN_MS_MAX, killSignal: 'SIGKILL' },
  )
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  child.stderr.on('data', (chunk) => (output += String(chunk)))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output: output.trim() }))
  })
}

/** Options of Node with which these packages are not found. */
function hide(packages: readonly string[]): string[] {
  if (packages.length === 0) return []
  const hooks = `
    const hidden = ${JSON.stringify(packages)}
    export async function resolve(name, context, next) {
      if (!hidden.includes(name)) return next(name, context)
      throw Object.assign(new Error('Cannot find package ' + name), { code: 'ERR_MODULE_NOT_FOUND' })
    }`
  const register = `
    import { register } from 'node:module'
    register(${JSON.stringify(toModule(hooks))})`
  return ['--import', toModule(register)]
}

function toModule(text: string): string {
  return `data:text/javascript,${encodeURIComponent(text)}`
}
