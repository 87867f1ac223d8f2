import { describe, expect, it } from 'vitest'
import { findLintErrors } from './guards/lint.ts'
import type { SourceFile } from './guards/source-file.ts'

const LINE = 'export {}\n'
const STATEMENT = '  count += 1\n'

const longFunction = (lines: number): string =>
  `export function grow(count: number): number {\n${STATEMENT.repeat(lines - 3)}  return count\n}\n`

/** Each breaks exactly one rule. */
const BAD_FILES: readonly (SourceFile & { readonly rule: string })[] = [
  {
    path: 'src/locks/floating.ts',
    text: `export function bad(work: () => Promise<void>): void {\n  work()\n}\n`,
    rule: 'no-floating-promises',
  },
  {
    path: 'src/locks/misused.ts',
    text: `export function bad(work: () => Promise<void>): void {\n  ;[1].forEach(async () => work())\n}\n`,
    rule: 'no-misused-promises',
  },
  {
    path: 'src/locks/switch.ts',
    text: `export function bad(kind: 'a' | 'b'): number {\n  switch (kind) {\n    case 'a':\n      return 1\n  }\n  return 2\n}\n`,
    rule: 'switch-exhaustiveness-check',
  },
  {
    path: 'src/locks/any.ts',
    text: `export function bad(value: any): unknown {\n  return value\n}\n`,
    rule: 'no-explicit-any',
  },
  {
    path: 'src/locks/suppressed.ts',
    text: `// @ts-ignore\nexport const bad: number = ''\n`,
    rule: 'ban-ts-comment',
  },
  {
    path: 'src/locks/default.ts',
    text: `export default function bad(): void {}\n`,
    rule: 'no-default-export',
  },
  {
    path: 'src/locks/parameters.ts',
    text: `export const bad = (a: number, b: number, c: number, d: number): number => a + b + c + d\n`,
    rule: 'max-params',
  },
  {
    path: 'src/locks/nesting.ts',
    text: `export function bad(a: boolean): void {\n  if (a) for (;;) while (a) if (a) return\n}\n`,
    rule: 'max-depth',
  },
  {
    path: 'src/locks/cycle-a.ts',
    text: `import { b } from './cycle-b.ts'\nexport const a = (): number => b()\n`,
    rule: 'no-cycle',
  },
  {
    path: 'src/locks/cycle-b.ts',
    text: `import { a } from './cycle-a.ts'\nexport const b = (): number => a()\n`,
    rule: 'no-cycle',
  },
  { path: 'src/locks/long.ts', text: LINE.repeat(401), rule: 'max-lines' },
  { path: 'test/locks/long.test.ts', text: LINE.repeat(601), rule: 'max-lines' },
  { path: 'test/conformance/long.test.ts', text: LINE.repeat(61), rule: 'max-lines' },
  { path: 'src/engine/long.ts', text: LINE.repeat(351), rule: 'max-lines' },
  { path: 'src/locks/long-function.ts', text: longFunction(71), rule: 'max-lines-per-function' },
  { path: 'src/locks/badName.ts', text: LINE, rule: 'filename-case' },
  {
    path: 'src/locks/console.ts',
    text: `export const bad = (): void => console.log('')\n`,
    rule: 'no-console',
  },
  {
    path: 'src/locks/environment.ts',
    text: `export const bad: unknown = process.env\n`,
    rule: 'no-process-env',
  },
  {
    path: 'src/locks/exit.ts',
    text: `export function bad(): void {\n  process.exitCode = 1\n}\n`,
    rule: 'no-restricted-properties',
  },
  {
    path: 'src/locks/signals.ts',
    text: `export const bad = (): unknown => process.once('SIGINT', () => {})\n`,
    rule: 'no-restricted-properties',
  },
  {
    path: 'src/locks/clock.ts',
    text: `export const bad: number = Date.now()\n`,
    rule: 'no-restricted-properties',
  },
  {
    path: 'src/engines/embedded/timer.ts',
    text: `export const bad = (): unknown => setTimeout(() => {}, 1)\n`,
    rule: 'no-restricted-globals',
  },
  {
    path: 'src/locks/global-timer.ts',
    text: `export const bad = (): unknown => globalThis.setTimeout(() => {}, 1)\n`,
    rule: 'no-restricted-globals',
  },
  {
    path: 'src/locks/timers.ts',
    text: `import { setTimeout } from 'node:timers'\nexport const bad = setTimeout\n`,
    rule: 'no-restricted-imports',
  },
  {
    path: 'src/locks/timer-promises.ts',
    text: `import { setTimeout } from 'node:timers/promises'\nexport const bad = setTimeout\n`,
    rule: 'no-restricted-imports',
  },
  {
    path: 'src/locks/performance.ts',
    text: `import { performance as clock } from 'node:perf_hooks'\nexport const bad = clock\n`,
    rule: 'no-restricted-imports',
  },
  {
    path: 'src/locks/process.ts',
    text: `import { env } from 'node:process'\nexport const bad = env\n`,
    rule: 'no-restricted-imports',
  },
  {
    path: 'src/locks/high-resolution.ts',
    text: `export const bad = (): bigint => process.hrtime.bigint()\n`,
    rule: 'no-restricted-properties',
  },
  {
    path: 'src/locks/output.ts',
    text: `export const bad = (): boolean => process.stdout.write('')\n`,
    rule: 'no-restricted-properties',
  },
  {
    path: 'src/locks/equality.ts',
    text: `export const bad = (a: unknown): boolean => a == 1\n`,
    rule: 'eqeqeq',
  },
  {
    path: 'src/locks/variable.ts',
    text: `export function bad(): number {\n  let one = 1\n  return one\n}\n`,
    rule: 'prefer-const',
  },
  {
    path: 'src/locks/thrown.ts',
    text: `export function bad(): never {\n  throw 'a text'\n}\n`,
    rule: 'only-throw-error',
  },
  {
    path: 'src/locks/returned.ts',
    text: `export async function bad(work: () => Promise<void>): Promise<void> {\n  try {\n    return work()\n  } catch {\n    return\n  }\n}\n`,
    rule: 'return-await',
  },
  {
    path: 'src/law/signal.ts',
    text: `export const bad = (): unknown => AbortSignal.timeout(1)\n`,
    rule: 'no-restricted-globals',
  },
  {
    path: 'src/law/calendar.ts',
    text: `export const bad = (): string => new Intl.DateTimeFormat().format()\n`,
    rule: 'no-restricted-globals',
  },
  {
    path: 'src/locks/chance.ts',
    text: `export const bad: number = Math.random()\n`,
    rule: 'no-restricted-properties',
  },
  {
    path: 'test/locks/focused.test.ts',
    text: `import { expect, it } from 'vitest'\nit.only('holds', () => expect(1).toBe(1))\n`,
    rule: 'no-focused-tests',
  },
]

const GOOD_FILES: readonly SourceFile[] = [
  { path: 'src/locks/just-short-enough.ts', text: LINE.repeat(400) },
  { path: 'src/locks/short-function.ts', text: longFunction(70) },
  { path: 'test/locks/long.test.ts', text: LINE.repeat(600) },
  { path: 'test/locks/describe.test.ts', text: longFunction(300) },
  { path: 'src/time/system-clock.ts', text: `export const now = (): number => Date.now()\n` },
  { path: 'src/cli/main.ts', text: `console.log(process.env, process.argv)\n` },
  { path: 'vitest.config.ts', text: `export default {}\n` },
]

describe('the linter', () => {
  it('reports each rule of the house that is broken', () => {
    const expected = BAD_FILES.map(({ path, rule }) => [path, [rule]])
    expect(findLintErrors(BAD_FILES)).toEqual(Object.fromEntries(expected))
  })

  it('is content with files at the limit and with those that have other rights', () => {
    expect(findLintErrors(GOOD_FILES)).toEqual({})
  })
})
