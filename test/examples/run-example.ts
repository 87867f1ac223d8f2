import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, expect } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

let running: number | undefined

/** An example that did not end by itself is ended with all that it started. */
afterEach(() => {
  if (running !== undefined) process.kill(-running, 'SIGKILL')
  running = undefined
})

/** What an example prints. It runs on the built package, as a user's program does. */
export async function runExample(program: string, args: readonly string[]): Promise<string[]> {
  const child = spawn(program, args, { cwd: ROOT, detached: true })
  running = child.pid
  let printed = ''
  child.stdout.on('data', (chunk) => (printed += String(chunk)))
  child.stderr.on('data', (chunk) => (printed += String(chunk)))
  const code = await new Promise((resolve) => child.once('close', resolve))
  running = undefined
  expect(code, printed).toBe(0)
  return printed.split('\n').filter((line) => line !== '')
}

export function runTypeScript(name: string, ...args: readonly string[]): Promise<string[]> {
  return runExample(process.execPath, ['--import', 'tsx', `examples/${name}`, ...args])
}
