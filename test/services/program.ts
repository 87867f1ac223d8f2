import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { ServiceOptions } from './service.ts'

/** Where a program may come from, in the order in which it is looked for. */
export interface ProgramSources {
  readonly name: string
  /** Folders that are not on everybody's PATH. */
  readonly folders?: readonly string[]
  /** From a package of npm, if it is installed and fits this machine. */
  readonly fromNpm?: () => Promise<string | null>
  /** The package of the system that has it. */
  readonly systemPackage: string
  /** The environment variable that names a running server instead. */
  readonly variable: string
}

export interface Program {
  readonly path: string
  /** What has to be in its environment. */
  readonly environment: Readonly<Record<string, string>>
  /** Where the packages of the system were unpacked, if it came from those. */
  readonly root?: string
}

export function findOnPath(
  name: string,
  environment: Required<ServiceOptions>['environment'],
): string | null {
  const folders = (environment['PATH'] ?? '').split(delimiter).filter(Boolean)
  return findExecutable(name, folders)
}

export function findExecutable(name: string, folders: readonly string[]): string | null {
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
