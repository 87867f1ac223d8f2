import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from './run-tool.ts'
import { REPOSITORY } from './source-file.ts'

export interface TypeCheckOptions {
  /** A project of a user, with its files to check in `src/`. */
  readonly folder: string
  readonly module?: 'NodeNext' | 'Preserve'
}

/** Compiles `src/` to `out/` as a strict user of ours would, and returns what tsc complains about. */
export function typeCheck({ folder, module = 'NodeNext' }: TypeCheckOptions): string[] {
  const compilerOptions = {
    target: 'ES2023',
    lib: ['ES2023', 'ESNext.Disposable'],
    module,
    moduleDetection: 'force',
    strict: true,
    allowJs: true,
    checkJs: true,
    types: ['node'],
    typeRoots: [join(REPOSITORY, 'node_modules/@types')],
    rootDir: 'src',
    outDir: 'out',
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['src'] }),
  )
  const { status, output } = runTool('typescript/bin/tsc', { cwd: folder, args: ['-p', '.'] })
  return status === 0 ? [] : output.trim().split('\n')
}
