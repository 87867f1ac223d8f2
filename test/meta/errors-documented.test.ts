import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ERROR_CATALOGUE } from '../../src/engine/errors/error-catalogue.ts'

interface Row {
  readonly code: string
  readonly class: string
  readonly retryable: boolean
  readonly meaning: string
}

/** The rows of the table in a page of errors. */
function readRows(page: string): Row[] {
  return page.split('\n').flatMap((line) => {
    const [, code, errorClass, retryable, meaning] =
      /^\| `(LOCK_\w+)` \| `(\w+)` \| (yes|no) \| (.+) \|$/.exec(line) ?? []
    if (code === undefined || errorClass === undefined || meaning === undefined) return []
    return [{ code, class: errorClass, retryable: retryable === 'yes', meaning }]
  })
}

const CATALOGUE: readonly Row[] = Object.entries(ERROR_CATALOGUE).map(([code, entry]) => ({
  code,
  ...entry,
}))

it('docs/errors.md lists every error as the catalogue has it, and no other', async () => {
  const page = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  expect(readRows(page)).toEqual(CATALOGUE)
})

it('the guard fires on a missing code and on another meaning', () => {
  const page = '| `LOCK_HELD` | `ConflictError` | yes | Something else. |'
  expect(readRows(page)).toHaveLength(1)
  expect(readRows(page)).not.toEqual(CATALOGUE.filter(({ code }) => code === 'LOCK_HELD'))
})
