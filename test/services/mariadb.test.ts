import { expect, it } from 'vitest'
import { startMariadb } from './mariadb.ts'
import { OWN } from './service.ts'
import { listRemains } from './service-facts.ts'

it('a MariaDB of our own listens, and leaves nothing behind when it is stopped', async () => {
  const service = await startMariadb(OWN)
  expect(await listRemains(service)).toHaveLength(3)
  await service.stop()
  expect(await listRemains(service)).toEqual([])
})
