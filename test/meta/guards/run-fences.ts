import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fence } from './fences.ts'
import { typeCheck } from './type-check.ts'

const RUN_MS_MAX = 100_000

/**
 * Type-checks the blocks in a folder in which the package is installed, then runs those that ask
 * for it. Returns one sentence for each fault, with the page and the line where it is.
 */
export function findBrokenFences(fences: readonly Fence[], folder: string): string[] {
  for (const name of ['src', 'out']) rmSync(join(folder, name), { recursive: true, force: true })
  mkdirSync(join(folder, 'src'))
  const programs = fences.filter(({ use }) => use !== 'fragment')
  if (programs.length === 0) return []
  for (const fence of programs) {
    // The empty lines before the code make the compiler's line numbers those of the page.
    const text = '\n'.repeat(fence.line - 1) + fence.code
    writeFileSync(join(folder, 'src', `${toFileName(fence)}.${fence.language}`), text)
  }
  const faults = typeCheck({ folder }).map(toPagePosition)
  if (faults.length > 0) return faults
  return programs.filter(({ use }) => use === 'run').flatMap((fence) => runFence(fence, folder))
}

function runFence(fence: Fence, folder: string): string[] {
  const program = join('out', `${toFileName(fence)}.js`)
  const options = { cwd: folder, encoding: 'utf8', timeout: RUN_MS_MAX } as const
  const { status, stderr } = spawnSync(process.execPath, [program], options)
  if (status === 0) return []
  const how = status === null ? `did not end in ${RUN_MS_MAX} ms` : `failed (${status})`
  return [`${fence.path}:${fence.line} ${how}: ${stderr}`]
}

const toFileName = ({ path, line }: Fence): string => `${path.replaceAll('/', '!')}!${line}`

/** From `src/docs!page.md!12.ts(14,3): error …` to `docs/page.md:14:3: error …`. */
function toPagePosition(complaint: string): string {
  const [, path, line, column, text] =
    /^src\/(.*)!\d+\.[jt]s\((\d+),(\d+)\)(.*)$/.exec(complaint) ?? []
  if (path === undefined) return complaint
  return `${path.replaceAll('!', '/')}:${line}:${column}${text}`
}
