import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const BOOTSTRAP = fileURLToPath(new URL('../../scripts/bootstrap.mjs', import.meta.url))
const DIST = new URL('../../dist/', import.meta.url)
let isBuilt = false

/**
 * A file of `dist/`, for a process of its own: what is shipped starts in a third of the time of what has to be
 * compiled on the way. It is compiled first where it is older than `src/`.
 */
export function compiledFile(path: string): URL {
  if (!isBuilt) execFileSync(process.execPath, [BOOTSTRAP, '--build'])
  isBuilt = true
  return new URL(path, DIST)
}
