import { describe } from 'vitest'
import { checkConservation } from '../../../src/testing/checks/conservation.ts'
import { Story } from './story.ts'
import { tellAll } from './tell.ts'

const held = (): Story => new Story().acquire('a', [0, 1], { token: 1, ttlMs: 100 })
const waiting = (): Story => held().acquire('b', [2, 90], { queuedAt: 3, token: 2 })
const holder = { owner: 'a', reads: 0, writes: 1 }

describe('conservation', () => {
  tellAll(checkConservation, [
    ['shows who holds', null, held().check([5, 6], { holders: [holder] })],
    ['loses no hold', 'a holds it and is not shown', held().check([5, 6], { holders: [] })],
    ['may lose a hold after its lease', null, held().check([99, 101], { holders: [] })],
    [
      'invents no hold',
      'b is shown as a holder without a grant',
      held().check([5, 6], { holders: [holder, { owner: 'b' }] }),
    ],
    [
      'may show who was granted without having been told',
      null,
      held()
        .acquire('b', [2, Infinity])
        .check([5, 6], { holders: [holder, { owner: 'b' }] }),
    ],
    [
      'shows nobody after an acknowledged release',
      'a is shown as a holder without a grant',
      held()
        .release('a', [2, 3])
        .check([5, 6], { holders: [holder] }),
    ],
    [
      'may show somebody after a lost release',
      null,
      held()
        .release('a', [2, Infinity])
        .check([5, 6], { holders: [holder] }),
    ],
    [
      'shows the right counts',
      'other counts than 0 reads and 1 writes',
      held().check([5, 6], { holders: [{ owner: 'a', reads: 0, writes: 2 }] }),
    ],
    [
      'may show other counts while they change',
      null,
      held()
        .acquire('a', [4, 5.5], { token: 1 })
        .check([5, 6], { holders: [{ owner: 'a', reads: 0, writes: 2 }] }),
    ],
    [
      'shows who waits',
      null,
      waiting().check([5, 6], { holders: [holder], waiters: [{ owner: 'b' }] }),
    ],
    [
      'loses no waiter',
      'b waits and is not shown',
      waiting().check([5, 6], { holders: [holder], waiters: [] }),
    ],
    [
      'may lose a waiter that is disconnected',
      null,
      waiting()
        .mark('disconnect', 4, { proc: 'b' })
        .check([5, 6], { holders: [holder], waiters: [] }),
    ],
    [
      'may lose a waiter whose time is up',
      null,
      held()
        .acquire('b', [2, Infinity], { queuedAt: 3, waitMs: 3 })
        .check([5, 6], { holders: [holder], waiters: [] }),
    ],
    [
      'lets nobody give up more than it got',
      'a gave up 2 steps of at most 1',
      held().release('a', [2, 3]).release('a', [4, 5]),
    ],
    [
      'takes a repeated release as one',
      null,
      held().release('a', [2, 3], { reqId: 'r' }).release('a', [4, 5], { reqId: 'r' }),
    ],
    [
      'takes a lost grant as one that may be given up',
      null,
      new Story().acquire('a', [0, Infinity]).release('a', [2, 3]),
    ],
    [
      'ends no hold twice',
      'token 1 ended twice',
      held().release('a', [2, 3]).mark('expired', 101, { owner: 'a', token: 1 }),
    ],
    [
      'expires no hold twice',
      'token 1 ended twice',
      held()
        .mark('expired', 101, { owner: 'a', token: 1 })
        .mark('expired', 102, { owner: 'a', token: 1 }),
    ],
  ])
})
