import { readFileSync, type Stats, unwatchFile, watchFile } from 'node:fs'
import { SettingError } from '../settings/setting-error.ts'

/** Looking at the file costs one call to the system; names that are links are followed. */
const LOOK_MS = 1_000

/** The text of a file that a setting names; `source` is where that came from. */
export function readSettingFile(source: string | undefined, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new SettingError(source ?? path, (error as Error).message)
  }
}

/** Calls back after one of the files was changed or replaced. Returns how to stop. */
export function followFiles(paths: readonly string[], onChange: () => void): () => void {
  const listener = (now: Stats, before: Stats): void => {
    if (now.mtimeMs !== before.mtimeMs || now.size !== before.size || now.ino !== before.ino) {
      onChange()
    }
  }
  for (const path of paths) {
    watchFile(path, { interval: LOOK_MS, persistent: false }, listener)
  }
  return () => {
    for (const path of paths) unwatchFile(path, listener)
  }
}
