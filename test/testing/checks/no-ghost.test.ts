import { describe } from 'vitest'
import { checkNoGhost } from '../../../src/testing/checks/no-ghost.ts'
import { Story } from './story.ts'
import { tellAll } from './tell.ts'

const ended = (code: string): Story =>
  new Story().op(['acquire', 'a'], [0, 5], { reqId: 'r', queuedAt: 1, outcome: 'fail', code })

const cancelled = (): Story =>
  new Story()
    .acquire('a', [0, Infinity], { reqId: 'r', queuedAt: 1 })
    .op(['cancel', 'a'], [2, 3], { reqId: 'r' })

describe('a request that has ended', () => {
  tellAll(checkNoGhost, [
    ['may be told so again', null, ended('timeout').refused(['acquire', 'a'], [6, 7], 'timeout')],
    [
      'is not granted after a time-out',
      'granted after it had ended (timeout)',
      ended('timeout').acquire('a', [6, 7], { reqId: 'r', token: 1 }),
    ],
    [
      'may be granted while the time-out is still on its way',
      null,
      ended('timeout').acquire('a', [4, 7], { reqId: 'r', token: 1 }),
    ],
    [
      'may be followed by another',
      null,
      ended('timeout').acquire('a', [6, 7], { reqId: 's', token: 1 }),
    ],
    [
      'is not granted after a cancel',
      'granted after it had ended (cancelled)',
      cancelled()
        .refused(['acquire', 'a'], [3.5, 3.6], 'cancelled')
        .op(['acquire', 'a'], [3.5, 3.6], { reqId: 'r', outcome: 'fail', code: 'cancelled' })
        .acquire('a', [4, 5], { reqId: 'r', token: 1 }),
    ],
    [
      'may be asked anew if it was turned away at once',
      null,
      new Story()
        .op(['acquire', 'a'], [0, 1], { reqId: 'r', outcome: 'fail', code: 'held' })
        .acquire('a', [2, 3], { reqId: 'r', token: 1 }),
    ],
    [
      'does not hold after a time-out',
      'is seen as a holder after its end',
      ended('timeout').check([6, 7], { holders: [{ owner: 'a' }] }),
    ],
    [
      'does not hold after a cancel whose first answer was lost',
      'is seen as a holder after its end',
      cancelled().check([6, 7], { holders: [{ owner: 'a' }] }),
    ],
    [
      'does not wait after a cancel',
      'is seen as a waiter after its end',
      cancelled().check([6, 7], { holders: [], waiters: [{ owner: 'a', reqId: 'r' }] }),
    ],
    [
      'may be seen until the answer has come',
      null,
      ended('timeout').check([4, 7], { holders: [{ owner: 'a' }] }),
    ],
    [
      'may be seen if its owner has another that holds',
      null,
      ended('timeout')
        .acquire('a', [5.5, 5.7], { reqId: 's', token: 1 })
        .check([6, 7], { holders: [{ owner: 'a' }] }),
    ],
    [
      'is no ghost of another owner',
      null,
      ended('timeout').check([6, 7], { holders: [{ owner: 'b' }] }),
    ],
  ])
})
