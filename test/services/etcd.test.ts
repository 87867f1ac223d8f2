import { expect, it } from 'vitest'
import { startEtcd } from './etcd.ts'
import { OWN } from './service.ts'
import { listRemains } from './service-facts.ts'

it('an etcd of our own answers, and leaves nothing behind when it is stopped', async () => {
  const service = await startEtcd(OWN)
  const answer = await fetch(`${service.url}/v3/kv/range`, {
    method: 'POST',
    body: JSON.stringify({ key: btoa('nothing') }),
  })
  expect(await answer.json()).toHaveProperty('header.revision')
  await service.stop()
  expect(await listRemains(service)).toEqual([])
})
