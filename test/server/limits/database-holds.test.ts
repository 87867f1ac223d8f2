import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openSqlEngine } from '../../../src/engines/sql/open-sql-engine.ts'
import { MYSQL, POSTGRES, SQLITE, type TestServer } from '../../engines/sql/test-servers.ts'
import { type Served, serve, tokensFor } from '../served.ts'

const START_MS_MAX = 60_000

describe.each([SQLITE, POSTGRES, MYSQL])('the limit on holds in $name', (kind) => {
  let databases: TestServer
  let served: Served

  beforeAll(async () => {
    databases = await kind.start()
  }, START_MS_MAX)
  afterAll(() => databases.stop())
  afterEach(() => served.close())

  const post = (path: string, key: string) => served.post(path, { key, owner: 'o' }, 'alice-token')

  it('is kept to the hold, however soon the next request comes', async () => {
    const where = await databases.create()
    const engine = await openSqlEngine(() => kind.open(where))
    served = await serve({ engine, limits: { holds: 3 }, tokens: tokensFor({ name: 'alice' }) })
    const asked = Array.from({ length: 12 }, (_, index) => post('/v1/acquire', `k${index}`))
    const granted = (await Promise.all(asked)).filter(({ status }) => status === 200)
    expect(granted).toHaveLength(3)
    const [one] = granted.map(({ body }) => String(body['key']))
    for (let turn = 0; turn < 20; turn += 1) {
      const statuses = [
        (await post('/v1/acquire', 'other')).status,
        (await post('/v1/release', one ?? '')).status,
        (await post('/v1/acquire', 'other')).status,
        (await post('/v1/acquire', one ?? '')).status,
        (await post('/v1/release', 'other')).status,
        (await post('/v1/acquire', one ?? '')).status,
      ]
      expect(statuses).toEqual([429, 200, 200, 429, 200, 200])
    }
  })
})
