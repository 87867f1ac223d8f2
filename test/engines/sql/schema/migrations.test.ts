import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../../../../src/engines/sql/schema/migrations.ts'
import { mysqlDialect } from '../../../../src/engines/sql/mysql/mysql-dialect.ts'
import { postgresDialect } from '../../../../src/engines/sql/postgres/postgres-dialect.ts'
import { sqliteDialect } from '../../../../src/engines/sql/sqlite/sqlite-dialect.ts'
import { WORKFLOW_BOOK } from '../../../../src/workflow/workflow-migrations.ts'

const DIALECTS = [sqliteDialect, postgresDialect, mysqlDialect]

describe.each([
  { whose: 'the engine', folder: 'migrations', steps: MIGRATIONS },
  { whose: 'workflow leases', folder: 'workflow-migrations', steps: WORKFLOW_BOOK.migrations },
])('the steps of the schema of $whose', ({ folder, steps }) => {
  // A step that is new is written to its file when this runs for the first time; it belongs to the change.
  it.each(steps)('number $version says what it said when it was made', async (step) => {
    const text = DIALECTS.map((dialect) =>
      [`-- ${dialect.name}`, ...step.statements(dialect).map((one) => `${one};`), ''].join('\n'),
    ).join('\n')
    await expect(text).toMatchFileSnapshot(`${folder}/${step.version}.sql`)
  })

  it('are numbered from one, without gaps', () => {
    expect(steps.map(({ version }) => version)).toEqual(steps.map((_, index) => index + 1))
  })
})

describe('steps of the schema', () => {
  it('that break older servers are in docs/operations.md', async () => {
    const page = await readFile(new URL('../../../../docs/operations.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| schema (\d+) \| (.+) \|$/gm)].map(([, version, why]) => ({
      version: Number(version),
      why,
    }))
    const breaking = MIGRATIONS.filter(({ breaks }) => breaks !== undefined)
    expect(rows).toEqual(breaking.map(({ version, breaks: why }) => ({ version, why })))
  })
})
