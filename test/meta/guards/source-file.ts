import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const REPOSITORY: string = fileURLToPath(new URL('../../..', import.meta.url))

/** A file as the guards see it, so that a test can hand them one that does not exist. */
export interface SourceFile {
  /** Relative to the root of the repository, with forward slashes. */
  readonly path: string
  readonly text: string
}

/** What git ignores, and git's own folder. */
const IGNORED = new Set([
  '.git',
  '.cache',
  'coverage',
  'dist',
  'dist.next',
  'holdfast-data',
  'node_modules',
])

/** The files of a folder of the repository and of the folders below, sorted; none if it is absent. */
export function readSourceFiles(folder: string, pattern: RegExp = /./): SourceFile[] {
  return listFiles(folder)
    .filter((path) => pattern.test(path))
    .map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), 'utf8') }))
}

function listFiles(folder: string): string[] {
  const entries = readdirSync(join(REPOSITORY, folder), { withFileTypes: true })
  return entries
    .filter((entry) => !IGNORED.has(entry.name))
    .flatMap((entry) => {
      const path = folder === '.' ? entry.name : `${folder}/${entry.name}`
      return entry.isDirectory() ? listFiles(path) : [path]
    })
    .sort()
}
