import { expect, it } from 'vitest'
import { GrantOrder } from '../../bench/grant-order.ts'

/** Four workers have asked once each. */
function createOrder(): GrantOrder {
  const order = new GrantOrder(4)
  for (let worker = 0; worker < 4; worker += 1) order.asked()
  return order
}

it('grants in the order of asking overtake nobody', () => {
  const order = createOrder()
  for (const ask of [1, 2, 3, 4]) order.granted(ask, ask - 1)
  expect(order.overtakes).toBe(0)
  expect(order.starved).toBe(0)
})

it('a grant overtakes while anybody waits who asked earlier, and only then', () => {
  const order = createOrder()
  order.granted(3, 2)
  order.granted(1, 0)
  expect(order.overtakes).toBe(1)
  order.granted(4, 3)
  expect(order.overtakes).toBe(2)
  order.granted(2, 1)
  order.granted(order.asked(), 0)
  expect(order.overtakes).toBe(2)
})

it('a key is handed off to those who waited when it was given back, and not to those who came later', () => {
  const order = createOrder()
  order.releasing()
  expect(order.granted(1, 0)).toBe(true)
  order.releasing()
  expect(order.granted(order.asked(), 0)).toBe(false)
  order.releasing()
  expect(order.granted(2, 1)).toBe(true)
  expect(order.starved).toBe(2)
})

it('the busiest worker is the one with the most grants', () => {
  const order = createOrder()
  expect(order.busiestPercent).toBe(0)
  for (const [ask, worker] of [
    [1, 0],
    [3, 2],
    [order.asked(), 2],
    [order.asked(), 2],
  ] as const) {
    order.granted(ask, worker)
  }
  expect(order.busiestPercent).toBe(75)
})
