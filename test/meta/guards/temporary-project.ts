import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { REPOSITORY, type SourceFile } from './source-file.ts'

/** A folder outside the repository that is gone after the test. */
export function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-meta-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The files in a folder of their own, with the tools of the repository beside them. */
export function createTemporaryProject(files: readonly SourceFile[]): string {
  const folder = createTemporaryFolder()
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'), 'junction')
  for (const { path, text } of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}
