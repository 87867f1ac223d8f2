import { expect, it } from 'vitest'
import { RecentMap } from '../../../src/server/recent-map.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { serve, tokensFor } from '../served.ts'

const KEPT_MS = 60_000

function openMap(keptMax: number): { map: RecentMap<number>; clock: VirtualClock } {
  const clock = new VirtualClock()
  return { map: new RecentMap({ clock, keptMs: KEPT_MS, keptMax }), clock }
}

it('a principal that sets much loses its own oldest, and takes nothing from others', () => {
  const { map } = openMap(100)
  map.set('alice', 'hers', 1)
  for (let index = 0; index < 1_000; index += 1) map.set('mallory', `${index}`, index)
  expect(map.get('alice', 'hers')).toBe(1)
  expect(map.get('mallory', '999')).toBe(999)
  expect(map.get('mallory', '900')).toBeUndefined()
})

it('what is set again is the newest, and what is old is gone', async () => {
  const { map, clock } = openMap(2)
  map.set(undefined, 'a', 1)
  map.set(undefined, 'b', 2)
  map.set(undefined, 'a', 3)
  map.set(undefined, 'c', 4)
  expect(['a', 'b', 'c'].map((key) => map.get(undefined, key))).toEqual([3, undefined, 4])
  await clock.advance(KEPT_MS)
  expect(map.get(undefined, 'c')).toBeUndefined()
})

it('the answers of one principal are remembered, whatever another one sends', async () => {
  const tokens = tokensFor({ name: 'alice', role: 'admin' }, { name: 'mallory', role: 'admin' })
  // However long the other one takes, no answer is forgotten for its age.
  const served = await serve({ tokens, clock: new VirtualClock() })
  const force = async (name: string, key: string, idempotencyKey: string): Promise<unknown> => {
    const headers = { 'idempotency-key': idempotencyKey }
    const asked = { method: 'DELETE', token: `${name}-token`, headers }
    const { body } = await served.call(`/v1/locks/${key}`, asked)
    return body['forced']
  }
  try {
    await served.engine.apply({ kind: 'acquire', key: 'k', owner: 'a', requestId: '1' })
    expect(await force('alice', 'k', 'once')).toBe(1)
    await served.engine.apply({ kind: 'acquire', key: 'k', owner: 'b', requestId: '1' })
    for (let sent = 0; sent < 10_050; sent += 150) {
      const some = Array.from({ length: 150 }, (_, index) => `${sent + index}`)
      await Promise.all(some.map((one) => force('mallory', 'other', one)))
    }
    // Sent again, it is the same request: the hold of another owner stays.
    expect(await force('alice', 'k', 'once')).toBe(1)
    const { holders } = await served.engine.read({ kind: 'inspect', key: 'k' })
    expect(holders).toMatchObject([{ owner: 'b' }])
  } finally {
    await served.close()
  }
}, 120_000)
