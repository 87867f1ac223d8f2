import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { REPOSITORY } from './source-file.ts'

export interface ToolResult {
  readonly status: number | null
  readonly stdout: string
  /** Standard output, then standard error. */
  readonly output: string
}

export interface ToolOptions {
  readonly cwd: string
  readonly args: readonly string[]
  /** For Node itself. */
  readonly nodeArgs?: readonly string[]
}

/** The list of all tests alone is more than the megabyte that is the default. */
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** Runs a script of node_modules, such as `knip/bin/knip.js`, and returns what it printed. */
export function runTool(script: string, options: ToolOptions): ToolResult {
  const path = join(REPOSITORY, 'node_modules', script)
  const { cwd, args, nodeArgs = [] } = options
  const { status, stdout, stderr } = spawnSync(process.execPath, [...nodeArgs, path, ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
    env: { ...process.env, NO_COLOR: '1' },
  })
  return { status, stdout, output: `${stdout}${stderr}` }
}
