import { describe } from 'vitest'
import { checkLinearizabilityByKey } from '../../../src/testing/checks/linearizability-by-key.ts'
import { Story } from './story.ts'
import { tellAll } from './tell.ts'

/** While one holds, another waits; the first leaves, and an observer looks before the other is told. */
const seenBeforeAnswer = (code: string): Story =>
  new Story()
    .acquire('a', [0, 1], { reqId: 'a', token: 1, reads: 0, writes: 1 })
    .op(['acquire', 'b'], [2, 9], { mode: 'write', reqId: 'b', waitMs: 60, outcome: 'fail', code })
    .release('a', [3, 4])
    .check([5, 6], { holders: [{ owner: 'b', reads: 0, writes: 1, token: 2 }] })

describe('a waiter that was not told that it waits', () => {
  tellAll(
    (evidence) => [...checkLinearizabilityByKey(evidence).violations],
    [
      ['may have held until its cancel', null, seenBeforeAnswer('cancelled')],
      ['may have held until its connection broke', null, seenBeforeAnswer('abandoned')],
      ['did not hold if it was turned away', 'nothing explains', seenBeforeAnswer('held')],
      ['did not hold if its time was over', 'nothing explains', seenBeforeAnswer('timeout')],
      [
        'does not hold without asking',
        'nothing explains',
        new Story().check([5, 6], { holders: [{ owner: 'b', token: 1 }] }),
      ],
    ],
  )
})

/** One who reads asks to read once more; an observer sees it twice, and then once again. */
const seenTwice = (ret: number): Story =>
  new Story()
    .acquire('a', [0, 1], { mode: 'read', reqId: 'a', token: 1, reads: 1, writes: 0 })
    .op(['acquire', 'a'], [2, ret], { mode: 'read', reqId: 'again', token: 1 })
    .check([3, 4], { holders: [{ owner: 'a', reads: 2, writes: 0, token: 1 }] })
    .check([5, 6], { holders: [{ owner: 'a', reads: 1, writes: 0, token: 1 }] })

describe('a step that was entered', () => {
  tellAll(
    (evidence) => [...checkLinearizabilityByKey(evidence).violations],
    [
      ['may be taken back from who gave up', null, seenTwice(Infinity)],
      ['stays with who was told of it', 'nothing explains', seenTwice(2.5)],
    ],
  )
})

/** One of two readers asks to write, and calls that off, while the other leaves. */
const upgradeCancelled = (cancelledAt: number): Story =>
  new Story()
    .acquire('a', [0, 1], { mode: 'read', reqId: 'a', token: 1, reads: 1, writes: 0 })
    .acquire('b', [0, 1], { mode: 'read', reqId: 'b', token: 2, reads: 1, writes: 0 })
    .op(['acquire', 'a'], [2, 9], { mode: 'write', reqId: 'up', token: 3, reads: 1, writes: 1 })
    .op(['cancel', 'a'], [cancelledAt, cancelledAt + 1], { reqId: 'up' })
    .release('b', [4, 5])
    .check([20, 21], { holders: [{ owner: 'a', reads: 1, writes: 0, token: 1 }] })

describe('an upgrade that was granted', () => {
  tellAll(
    (evidence) => [...checkLinearizabilityByKey(evidence).violations],
    [
      ['may be taken back from who calls it off meanwhile', null, upgradeCancelled(7)],
      ['may be called off after its owner was told', null, upgradeCancelled(10)],
    ],
  )
})
