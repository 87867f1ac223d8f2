import { posix } from 'node:path'
import { parseSync, Visitor } from 'vite'
import type { SourceFile } from './source-file.ts'

export interface ModuleImport {
  /** As written: `./decide.ts`, `node:fs`. */
  readonly specifier: string
  /** The path in the repository, or null for a package or a built-in module. */
  readonly target: string | null
  readonly isTypeOnly: boolean
}

/** Every import of a module: static, re-exported, dynamic, and `import('…')` in a type. */
export function listImports(file: SourceFile): ModuleImport[] {
  const { program, module, errors } = parseSync(file.path, file.text)
  if (errors.length > 0) throw new Error(`${file.path} does not parse: ${errors[0]?.message}`)
  const found: ModuleImport[] = []
  const add = (specifier: string, isTypeOnly: boolean): void => {
    found.push({ specifier, target: toTarget(file.path, specifier), isTypeOnly })
  }
  for (const { moduleRequest, entries } of module.staticImports)
    add(moduleRequest.value, entries.length > 0 && entries.every((entry) => entry.isType))
  for (const { entries } of module.staticExports)
    for (const { moduleRequest, isType } of entries)
      if (moduleRequest !== null) add(moduleRequest.value, isType)
  for (const { moduleRequest } of module.dynamicImports)
    add(file.text.slice(moduleRequest.start + 1, moduleRequest.end - 1), false)
  new Visitor({ TSImportType: (node) => add(node.source.value, true) }).visit(program)
  return found
}

function toTarget(from: string, specifier: string): string | null {
  return specifier.startsWith('.') ? posix.join(posix.dirname(from), specifier) : null
}
