import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g

/** What takes seconds to begin with: other processes, and the servers that only those can be. */
const SLOW_MODULES: ReadonlySet<string> = new Set(['node:child_process', 'node:cluster'])
const SLOW_FOLDER = 'test/services/'

/**
 * The test files that start processes or database servers, themselves or through what they import from
 * `test/`: found by looking, so that nobody has to keep a list.
 */
export function listSlowTests(root: string): string[] {
  const known = new Map<string, boolean>()
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name}`)
    .filter((file) => isSlow(root, file, known))
    .sort()
}

function isSlow(root: string, file: string, known: Map<string, boolean>): boolean {
  const found = known.get(file)
  if (found !== undefined) return found
  // For those that import each other, until it is known better.
  known.set(file, false)
  const imports = [...readFileSync(join(root, file), 'utf8').matchAll(IMPORT)]
  const result = imports.some(([, name = '']) => {
    if (!name.startsWith('.')) return SLOW_MODULES.has(name)
    const target = join(dirname(file), name)
    if (target.startsWith(SLOW_FOLDER)) return true
    const isRead = target.startsWith('test/') && existsSync(join(root, target))
    return isRead && target.endsWith('.ts') && isSlow(root, target, known)
  })
  known.set(file, result)
  return result
}
