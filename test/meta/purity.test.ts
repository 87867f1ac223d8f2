import { describe, expect, it } from 'vitest'
import { findLintErrors } from './guards/lint.ts'
import { readSourceFiles, type SourceFile } from './guards/source-file.ts'

const GLOBALS = [
  'Date.now()',
  'new Date()',
  'globalThis.Date.now()',
  'performance.now()',
  'setTimeout(String, 1)',
  'setInterval(String, 1)',
  'setImmediate(String)',
  'queueMicrotask(String)',
  'process.pid',
  'console.log(1)',
  'crypto.randomUUID()',
  'fetch("")',
]

const IMPORTS = [
  `import { hrtime } from 'node:process'\nexport const bad: unknown = hrtime`,
  `import { randomUUID } from 'node:crypto'\nexport const bad: unknown = randomUUID`,
  `import { bad } from '../engine/bad.ts'\nexport { bad }`,
  `export { bad } from '../time/bad.ts'`,
  `export const bad: unknown = import('../locks/bad.ts')`,
  `import bad from 'fast-check'\nexport { bad }`,
]

const BAD_FILES: readonly (SourceFile & { readonly rule: string })[] = [
  ...GLOBALS.map((use, index) => ({
    path: `src/law/bad-global-${index}.ts`,
    text: `export const bad: unknown = ${use}\n`,
    rule: 'no-restricted-globals',
  })),
  ...IMPORTS.map((text, index) => ({
    path: `src/law/bad-import-${index}.ts`,
    text,
    rule: 'no-restricted-imports',
  })),
  {
    path: 'src/law/bad-chance.ts',
    text: 'export const bad: number = Math.random()\n',
    rule: 'no-restricted-properties',
  },
]

describe('the law', () => {
  it('is pure', () => {
    expect(findLintErrors(readSourceFiles('src/law'))).toEqual({})
  })

  it('is impure with a clock, chance, the process, or an import from anywhere else', () => {
    const errors = findLintErrors(BAD_FILES)
    for (const { path, text, rule } of BAD_FILES) expect(errors[path], text).toContain(rule)
  })
})
