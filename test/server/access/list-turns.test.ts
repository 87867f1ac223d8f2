import { expect, it } from 'vitest'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { ListTurns } from '../../../src/server/access/list-turns.ts'
import { nextTurn } from '../../../src/time/turn.ts'

it('others have a turn between two lists of any clients', async () => {
  const engine = openMemoryEngine()
  const lists = new ListTurns(engine)
  const order: string[] = []
  const all = [1, 2, 3].map(async (number) => {
    await lists.list({ kind: 'list' })
    order.push(`list ${number}`)
  })
  for (const turn of [1, 2]) {
    await nextTurn()
    order.push(`turn ${turn}`)
  }
  await Promise.all(all)
  expect(order).toEqual(['list 1', 'turn 1', 'list 2', 'turn 2', 'list 3'])
  await engine.close()
})

it('a list that fails does not stop those behind it', async () => {
  const engine = openMemoryEngine()
  const lists = new ListTurns(engine)
  const failed = lists.list({ kind: 'list', limit: -1 }).catch((error: unknown) => error)
  const next = lists.list({ kind: 'list' })
  expect(await failed).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
  expect(await next).toMatchObject({ locks: [] })
  await engine.close()
})
