import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from './run-tool.ts'
import { REPOSITORY, type SourceFile } from './source-file.ts'
import { createTemporaryProject } from './temporary-project.ts'

interface OxlintReport {
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[]
}

/** The names of the broken rules, by file, under the lint configuration of this repository. */
export function findLintErrors(files: readonly SourceFile[]): Record<string, string[]> {
  const folder = createTemporaryProject([
    { path: 'package.json', text: '{ "type": "module" }' },
    ...files,
  ])
  for (const name of ['.oxlintrc.json', 'tsconfig.json'])
    copyFileSync(join(REPOSITORY, name), join(folder, name))
  const { stdout } = runTool('oxlint/bin/oxlint', {
    cwd: folder,
    args: ['--format=json', ...new Set(files.map(({ path }) => path.split('/')[0] ?? path))],
  })
  const { diagnostics } = JSON.parse(stdout) as OxlintReport
  return groupRules(diagnostics)
}

/** A code is reported as `plugin(rule)`. */
function groupRules(diagnostics: OxlintReport['diagnostics']): Record<string, string[]> {
  const rules: Record<string, string[]> = {}
  for (const { code, filename } of diagnostics) {
    const rule = code.replace(/^.*\((.*)\)$/, '$1')
    rules[filename] = [...new Set([...(rules[filename] ?? []), rule])].sort()
  }
  return rules
}
