import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from './source-file.ts'

interface ExportTarget {
  readonly types: string
  readonly default: string
}

/** The parts of package.json that the guards look at. */
export interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, ExportTarget | string>>
}

export function readManifest(folder: string = REPOSITORY): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** The files of the package that its exports point at, without the leading "./". */
export function listExportTargets(manifest: Manifest): string[] {
  const targets = Object.values(manifest.exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  return targets.map((target) => target.replace('./', ''))
}
