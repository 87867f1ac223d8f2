import { describe } from 'vitest'
import { checkQueueOrder } from '../../../src/testing/checks/queue-order.ts'
import { Story } from './story.ts'
import { tellAll } from './tell.ts'

/** `a` holds, `b` is known to wait, and `c` asks after that. */
const queue = (bToken: number, cToken: number): Story =>
  new Story()
    .acquire('a', [0, 1], { token: 1 })
    .acquire('b', [2, 50], { queuedAt: 3, token: bToken })
    .acquire('c', [4, 60], { queuedAt: 5, token: cToken })

const passed = 'b waited since 3, but c'

describe('the queue', () => {
  tellAll(checkQueueOrder, [
    ['is first come, first served', null, queue(2, 3)],
    ['lets nobody pass', passed, queue(3, 2)],
    [
      'lets no try-lock pass',
      passed,
      new Story()
        .acquire('b', [2, 50], { queuedAt: 3, token: 9 })
        .acquire('c', [4, 5], { waitMs: 0, token: 8 }),
    ],
    [
      'has no order among those that arrived at the same time',
      null,
      new Story()
        .acquire('b', [2, 50], { queuedAt: 6, token: 3 })
        .acquire('c', [4, 60], { queuedAt: 7, token: 2 }),
    ],
    [
      'shows a waiter that was passed although it never got the lock',
      passed,
      new Story()
        .acquire('b', [2, 3], { reqId: 'r', answer: 'queued' })
        .acquire('c', [4, 5], { token: 2 })
        .acquire('b', [6, 7], { reqId: 'r', answer: 'queued' }),
    ],
    [
      'lets an upgrade pass that crosses its own cancel',
      null,
      new Story()
        .acquire('a', [0, 1], { mode: 'read', reqId: 'a', token: 1, reads: 1, writes: 0 })
        .acquire('b', [2, 3], { reqId: 'b', answer: 'queued' })
        .op(['acquire', 'a'], [4, 6], { mode: 'write', reqId: 'up', token: 2, reads: 1, writes: 1 })
        .op(['cancel', 'a'], [5, 7], { reqId: 'up' })
        .acquire('b', [8, 9], { reqId: 'b', answer: 'queued' }),
    ],
    [
      'lets two readers in together, in either order',
      null,
      new Story()
        .acquire('b', [2, 50], { mode: 'read', queuedAt: 3, token: 3 })
        .acquire('c', [4, 60], { mode: 'read', queuedAt: 5, token: 2 }),
    ],
    [
      'keeps two readers in order if a writer is between them',
      passed,
      new Story()
        .acquire('b', [2, 50], { mode: 'read', queuedAt: 3, token: 4 })
        .acquire('c', [4, 60], { mode: 'read', queuedAt: 5, token: 2 })
        .acquire('d', [2, 60], { queuedAt: 5, token: 3 }),
    ],
    [
      'knows lanes of their own',
      null,
      new Story()
        .acquire('b', [2, 50], { lane: 'slow', queuedAt: 3, token: 3 })
        .acquire('c', [4, 60], { lane: 'fast', queuedAt: 5, token: 2 }),
    ],
    [
      'lets an upgrade pass',
      null,
      new Story()
        .acquire('c', [0, 1], { mode: 'read', token: 1 })
        .acquire('b', [2, 50], { queuedAt: 3, token: 3 })
        .acquire('c', [4, 5], { token: 2 }),
    ],
    [
      'lets a re-entry pass',
      null,
      new Story()
        .acquire('c', [0, 1], { token: 1 })
        .acquire('b', [2, 50], { queuedAt: 3, token: 3 })
        .acquire('c', [4, 5], { token: 1 }),
    ],
    [
      'does not let a former holder pass',
      passed,
      new Story()
        .acquire('c', [0, 1], { mode: 'read', token: 1 })
        .release('c', [2, 2.5])
        .acquire('b', [2, 50], { queuedAt: 3, token: 3 })
        .acquire('c', [4, 5], { token: 2 }),
    ],
    ['may be forgotten by a crash', null, queue(3, 2).mark('crash', 10)],
    [
      'may be forgotten by a crash between the asking and the first sight of it',
      null,
      queue(3, 2).mark('crash', 2.5),
    ],
    ['is not excused by a crash before it formed', passed, queue(3, 2).mark('crash', 1.5)],
    ['does not wait for the disconnected', null, queue(3, 2).mark('disconnect', 10, { proc: 'b' })],
    ['does wait for the others', passed, queue(3, 2).mark('disconnect', 10, { proc: 'x' })],
    [
      'does not wait for the silent',
      null,
      new Story()
        .acquire('b', [2, 3], { reqId: 'r', answer: 'queued' })
        .acquire('c', [4, 12_000], { token: 2 })
        .acquire('b', [20_000, 20_001], { reqId: 'r', token: 3 }),
    ],
    [
      'counts the silence of who was told to ask again from when it asked',
      null,
      new Story()
        .acquire('b', [2, 9_000], { reqId: 'r', answer: 'queued' })
        .acquire('c', [9_500, 12_000], { token: 2 })
        .acquire('b', [12_500, 12_501], { reqId: 'r', token: 3 }),
    ],
    [
      'waits for who was told to ask again and does so in time',
      'b waited since 3000, but c',
      new Story()
        .acquire('b', [2, 3_000], { reqId: 'r', answer: 'queued' })
        .acquire('c', [3_500, 6_000], { token: 2 })
        .acquire('b', [6_500, 6_501], { reqId: 'r', token: 3 }),
    ],
    [
      'does not wait for who gave up',
      null,
      new Story()
        .op(['acquire', 'b'], [2, 50], { queuedAt: 3, outcome: 'fail', code: 'timeout' })
        .acquire('c', [4, 60], { token: 2 }),
    ],
    [
      'orders operations, too',
      'pull:n1 waited since 3, but update:n2',
      new Story()
        .begin('pull:n1', [2, 3], { answer: 'queued' })
        .begin('update:n2', [4, 5], { token: 2 })
        .begin('pull:n1', [6, 7], { answer: 'queued' }),
    ],
  ])
  tellAll(
    checkQueueOrder,
    [['must outlive a crash where it is promised', passed, queue(3, 2).mark('crash', 10)]],
    {
      queueSurvivesRestart: true,
    },
  )
})
