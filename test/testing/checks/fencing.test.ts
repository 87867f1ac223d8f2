import { describe } from 'vitest'
import { checkFencing } from '../../../src/testing/checks/fencing.ts'
import { Story } from './story.ts'
import { tellAll } from './tell.ts'

const handOver = (first: number, second: number): Story =>
  new Story()
    .acquire('a', [0, 1], { token: first })
    .release('a', [2, 3])
    .acquire('b', [4, 5], { token: second })

const reader = (): Story => new Story().acquire('a', [0, 1], { mode: 'read', token: 1, ttlMs: 100 })

describe('fencing', () => {
  tellAll(checkFencing, [
    ['tokens grow from one grant to the next', null, handOver(3, 8)],
    ['a token goes to one owner only', 'went to a and to b', handOver(3, 3)],
    ['a later grant has no smaller token', 'token 2 was given after token 3', handOver(3, 2)],
    [
      'grants at the same time may have their tokens in either order',
      null,
      new Story()
        .acquire('a', [0, 9], { mode: 'read', token: 2 })
        .acquire('b', [1, 8], { mode: 'read', token: 1 }),
    ],
    [
      'a waiter is granted after its last word of waiting',
      'token 1 was given after token 2',
      new Story()
        .acquire('b', [0, 1], { reqId: 'r', answer: 'queued' })
        .acquire('a', [0, 2], { token: 2 })
        .acquire('b', [3, 4], { reqId: 'r', answer: 'queued' })
        .acquire('b', [5, 6], { reqId: 'r', token: 1 }),
    ],
    [
      'a waiter with an open request may have been granted long before it was told',
      null,
      new Story()
        .acquire('b', [0, 9], { mode: 'read', queuedAt: 1, token: 1 })
        .acquire('a', [2, 3], { mode: 'read', token: 2 }),
    ],
    [
      'entering again keeps the token',
      null,
      reader().acquire('a', [2, 3], { mode: 'read', token: 1 }),
    ],
    [
      'entering again gives no other token',
      'got token 2 instead of its own',
      reader().acquire('a', [2, 3], { mode: 'read', token: 2 }),
    ],
    [
      'a new token after the lease is a new hold',
      null,
      reader().acquire('a', [98, 101], { mode: 'read', token: 2 }),
    ],
    [
      'another reader may come between two entries',
      null,
      reader()
        .acquire('b', [2, 3], { mode: 'read', token: 2 })
        .acquire('a', [4, 5], { mode: 'read', token: 1 }),
    ],
    ['an upgrade has a greater token', null, reader().acquire('a', [2, 3], { token: 2 })],
    [
      'an upgrade does not keep the token',
      'upgraded from token 1 to 1',
      reader().acquire('a', [2, 3], { token: 1 }),
    ],
    [
      'a released token does not come back to its owner',
      'got a token again',
      new Story()
        .acquire('a', [0, 1], { token: 1 })
        .release('a', [2, 3])
        .acquire('a', [4, 5], { token: 1 }),
    ],
    [
      'a node that asks again for its operation gets the same token',
      null,
      new Story().begin('pull:n', [0, 1], { token: 1 }).begin('pull:n', [2, 3], { token: 1 }),
    ],
    [
      'a node that asks again for its operation gets no other token',
      'got token 2 instead of its own',
      new Story()
        .begin('pull:n', [0, 1], { token: 1, ttlMs: 100 })
        .begin('pull:n', [2, 3], { token: 2 }),
    ],
    [
      'a forced end makes room for a new hold',
      null,
      reader().op(['force', 'operator'], [2, 3]).acquire('a', [4, 5], { mode: 'read', token: 2 }),
    ],
    [
      'tokens of different keys have nothing to do with each other',
      null,
      new Story()
        .acquire('a', [0, 1], { token: 9 })
        .acquire('b', [2, 3], { token: 1, key: 'other' }),
    ],
  ])
})
