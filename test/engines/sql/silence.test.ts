import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openMysql } from '../../../src/engines/sql/mysql/open-mysql.ts'
import { openSqlEngine } from '../../../src/engines/sql/open-sql-engine.ts'
import { openPostgres } from '../../../src/engines/sql/postgres/open-postgres.ts'
import { FaultProxy } from '../../../src/testing/fault-proxy.ts'
import { MYSQL, POSTGRES, type TestServer } from './test-servers.ts'

/** Far longer than a server takes to make its tables on any machine. */
const SILENCE = { silenceMsMax: 5_000 }

describe.each([
  { kind: POSTGRES, open: openPostgres },
  { kind: MYSQL, open: openMysql },
])('a connection to $kind.name that was cut without a word', ({ kind, open }) => {
  let server: TestServer
  let proxy: FaultProxy

  beforeAll(async () => {
    server = await kind.start()
    proxy = await FaultProxy.listen({ target: { port: server.service?.port ?? 0 } })
  }, 300_000)

  afterAll(async () => {
    await proxy.close()
    await server.stop()
  })

  it('is given up, and the next one works', async () => {
    const url = new URL(await server.create())
    url.port = String(proxy.port)
    const engine = await openSqlEngine(() => open(url.href, SILENCE))
    const acquire = (requestId: string): ReturnType<typeof engine.apply> =>
      engine.apply({ kind: 'acquire', key: 'k', owner: requestId, requestId })
    expect(await acquire('first')).toMatchObject({ kind: 'granted' })
    proxy.set({ toClient: { kind: 'black-hole' } })
    await expect(acquire('second')).rejects.toMatchObject({ code: 'LOCK_ENGINE_UNAVAILABLE' })
    proxy.set({})
    await expect
      .poll(() => acquire('third').catch(() => null))
      .toMatchObject({ kind: 'refused', code: 'held' })
    await engine.close()
  }, 120_000)
})
