import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openSqlEngine } from '../../../src/engines/sql/open-sql-engine.ts'
import type { SqlDatabase } from '../../../src/engines/sql/sql-dialect.ts'
import type { LawSettings } from '../../../src/law/model/settings.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { createSqliteFile, type EmptyDatabase } from '../../conformance/fixtures/sql-fixtures.ts'

let empty: EmptyDatabase
const engines: LockEngine[] = []

beforeEach(async () => {
  empty = await createSqliteFile()
})

afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close()
  await empty.remove()
})

describe('servers on one database', () => {
  const clock = new VirtualClock({ nowMs: 1_000_000 })

  async function open(
    announceAs: string | undefined,
    settings: Partial<LawSettings>,
  ): Promise<{ readonly engine: LockEngine; readonly database: SqlDatabase }> {
    const database = await empty.open()
    const engine = await openSqlEngine(async () => database, {
      ...{ announceAs, settings, clock, isClockOurs: true },
    })
    engines.push(engine)
    return { engine, database }
  }

  it('notice one that decides otherwise for as long as it gives signs of life', async () => {
    const { engine } = await open('a', {})
    const other = await open('b', { lanes: ['x'] })
    const differences = async (): Promise<readonly string[] | undefined> =>
      (await engine.read({ kind: 'stats' })).differences
    expect(await differences()).toEqual(['b: lanes x, here none'])
    for (let seconds = 0; seconds < 60; seconds += 5) {
      await clock.advance(5_000)
      await expect.poll(differences).toEqual(['b: lanes x, here none'])
    }

    await other.database.close()
    await clock.advance(15_000)
    expect(await differences()).toHaveLength(1)
    for (let seconds = 0; seconds < 20; seconds += 5) {
      await clock.advance(5_000)
      await engine.read({ kind: 'stats' })
    }
    expect(await differences()).toEqual([])
  })

  it('do not count those who only use it', async () => {
    const user = await open(undefined, { lanes: ['x'] })
    const { engine } = await open('a', {})
    expect((await engine.read({ kind: 'stats' })).differences).toEqual([])
    expect(await user.engine.read({ kind: 'stats' })).not.toHaveProperty('differences')
  })
})
