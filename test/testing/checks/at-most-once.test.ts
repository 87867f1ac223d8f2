import { describe } from 'vitest'
import { checkAtMostOnce } from '../../../src/testing/checks/requests/at-most-once.ts'
import { Story } from './story.ts'
import { tellAll } from './tell.ts'

const lost = (): Story => new Story().acquire('a', [0, Infinity], { reqId: 'r' })

describe('a repeated request', () => {
  tellAll(checkAtMostOnce, [
    [
      'gets the same standing again',
      null,
      lost()
        .acquire('a', [2, 3], { reqId: 'r', token: 1, writes: 1 })
        .acquire('a', [4, 5], { reqId: 'r', token: 1, writes: 1 }),
    ],
    [
      'is not granted a second time',
      'tokens 1 and 2',
      lost()
        .acquire('a', [2, 3], { reqId: 'r', token: 1 })
        .acquire('a', [4, 5], { reqId: 'r', token: 2 }),
    ],
    [
      'may show the token of an upgrade by another request',
      null,
      lost()
        .acquire('a', [2, 3], { reqId: 'r', token: 1 })
        .acquire('a', [4, 5], { reqId: 'up', token: 2 })
        .acquire('a', [6, 7], { reqId: 'r', token: 2 }),
    ],
    [
      'does not count twice',
      'write count 2 after 1 requests',
      lost().acquire('a', [2, 3], { reqId: 'r', token: 1, writes: 2 }),
    ],
    [
      'counts beside another request',
      null,
      lost().acquire('a', [2, 3], { reqId: 'other', token: 1, writes: 2 }),
    ],
    [
      'does not count for the mode that nobody asked for',
      'read count 1 after 0 requests',
      lost().acquire('a', [2, 3], { reqId: 'r', token: 1, reads: 1, writes: 1 }),
    ],
    [
      'is not granted in another mode',
      'in two modes',
      new Story()
        .acquire('a', [2, 3], { reqId: 'r', token: 1 })
        .acquire('a', [4, 5], { reqId: 'r', mode: 'read', token: 1 }),
    ],
    [
      'may be refused in another mode',
      null,
      new Story().acquire('a', [2, 3], { reqId: 'r', token: 1 }).op(['acquire', 'a'], [4, 5], {
        reqId: 'r',
        mode: 'read',
        outcome: 'fail',
        code: 'bad_request',
      }),
    ],
    [
      'stands in the queue once',
      'twice in the queue',
      lost().check([2, 3], {
        waiters: [
          { owner: 'a', reqId: 'r' },
          { owner: 'a', reqId: 'r' },
        ],
      }),
    ],
    [
      'stands in the queue beside another of its owner',
      null,
      lost().check([2, 3], {
        waiters: [
          { owner: 'a', reqId: 'r' },
          { owner: 'a', reqId: 's' },
        ],
      }),
    ],
    [
      'releases once',
      'released twice',
      new Story()
        .release('a', [0, 1], { reqId: 'r', writes: 1 })
        .release('a', [2, 3], { reqId: 'r', writes: 0 }),
    ],
    [
      'is told of the same release again',
      null,
      new Story()
        .release('a', [0, 1], { reqId: 'r', writes: 1 })
        .release('a', [2, 3], { reqId: 'r', writes: 1 })
        .release('a', [4, 5], { reqId: 's', writes: 0 }),
    ],
  ])
})
