import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import {
  EXIT_CODES,
  exitCodeOfError,
  exitCodeOfSignal,
  type ExitCode,
} from '../../src/cli/exit-codes.ts'
import { UsageError } from '../../src/cli/usage-error.ts'
import { ERROR_CATALOGUE, type ErrorCode } from '../../src/engine/errors/error-catalogue.ts'
import { createError } from '../../src/engine/errors/errors.ts'

/** The rows of the table of exit codes in a page. */
function readRows(page: string): ExitCode[] {
  return [...page.matchAll(/^\| `(\d+)` \| (.+) \|$/gm)].map(([, code, meaning = '']) => ({
    code: Number(code),
    meaning,
  }))
}

describe('the exit codes', () => {
  it('are in docs/cli.md as they are in the code', async () => {
    const page = await readFile(new URL('../../docs/cli.md', import.meta.url), 'utf8')
    expect(readRows(page)).toEqual(Object.values(EXIT_CODES))
  })

  it('are looked for in a way that finds another meaning', () => {
    const rows = readRows('| `64` | Something else. |')
    expect(rows).toEqual([{ code: 64, meaning: 'Something else.' }])
    expect(rows).not.toEqual([EXIT_CODES.usage])
  })

  it('are all different', () => {
    const codes = Object.values(EXIT_CODES).map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
  })

  it.each<[ErrorCode, number]>([
    ['LOCK_ENGINE_UNAVAILABLE', 69],
    ['LOCK_DIRECTORY_OWNED', 69],
    ['LOCK_INVALID_ARGUMENT', 64],
    ['LOCK_UNKNOWN_ENGINE', 64],
    ['LOCK_FORBIDDEN', 77],
    ['LOCK_STORAGE_DAMAGED', 70],
    ['LOCK_STORAGE_NEWER', 78],
    ['LOCK_LIMIT', 1],
  ])('of %s is %d', (code, exitCode) => {
    expect(exitCodeOfError(createError(code, 'no'))).toBe(exitCode)
  })

  it('of every error is none of a command’s own', () => {
    const own = Object.values(EXIT_CODES).map(({ code }) => code)
    for (const code of Object.keys(ERROR_CATALOGUE) as ErrorCode[]) {
      expect(own).toContain(exitCodeOfError(createError(code, 'no')))
    }
  })

  it('of a wrong command line, a defect and a signal', () => {
    expect(exitCodeOfError(new UsageError('no'))).toBe(64)
    expect(exitCodeOfError(new TypeError('no'))).toBe(70)
    expect(exitCodeOfSignal('SIGTERM')).toBe(143)
  })
})
