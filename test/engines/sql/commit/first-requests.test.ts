import { beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../../src/engine/engine.ts'
import { openSqlEngine } from '../../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../../src/engines/sql/sql-dialect.ts'
import { MYSQL, POSTGRES } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

/** On SQLite nobody else can do anything in the middle of a transaction. */
describe.each([POSTGRES, MYSQL])('a key of $name that two processes make at once', (kind) => {
  const server = useServer(kind)
  let here: LockEngine
  let there: LockEngine
  let meanwhile: (() => Promise<unknown>) | undefined

  beforeEach(async () => {
    const where = await server.create()
    const open = async (): Promise<SqlDatabase> =>
      interrupt(await kind.open(where), async () => {
        const work = meanwhile
        meanwhile = undefined
        await work?.()
      })
    here = server.closing(await openSqlEngine(open))
    there = server.closing(await openSqlEngine(() => kind.open(where)))
  })

  const acquire = { kind: 'acquire', key: 'k', requestId: '1', mode: 'write' } as const

  it.each(['read', 'write'] as const)('is held by one of them: %s', async (mode) => {
    meanwhile = async () => there.apply({ ...acquire, owner: 'there' })
    const outcome = await here.apply({ ...acquire, owner: 'here', mode })
    expect(outcome).toMatchObject({ kind: 'refused', code: 'held' })
    const { holders } = await there.read({ kind: 'inspect', key: 'k' })
    expect(holders.map(({ owner }) => owner)).toEqual(['there'])
  })

  it('remembers what one of them was asked before the other came', async () => {
    const asked = { ...acquire, owner: 'same' }
    meanwhile = async () => {
      await there.apply(asked)
      await there.apply({ kind: 'release', key: 'k', owner: 'same' })
    }
    expect(await here.apply(asked)).toMatchObject({ kind: 'refused' })
  })

  it('has the queue that the other found', async () => {
    const waits = { ...acquire, waitMs: 60_000, detach: true }
    meanwhile = async () => {
      await there.apply({ ...acquire, owner: 'holder' })
      await there.apply({ ...waits, owner: 'first' })
    }
    const outcome = await here.apply({ ...waits, owner: 'second' })
    expect(outcome).toMatchObject({ kind: 'queued', position: 2 })
  })
})

/** Something happens after a process has found that a key is not there, and before it makes it. */
function interrupt(database: SqlDatabase, happen: () => Promise<void>): SqlDatabase {
  const { dialect } = database
  let isMaking = false
  return {
    ...database,
    dialect: {
      ...dialect,
      insertKeys(names) {
        isMaking = true
        return dialect.insertKeys(names)
      },
      async run(db, statements) {
        if (isMaking) {
          isMaking = false
          await happen()
        }
        return dialect.run(db, statements)
      },
    },
  }
}
