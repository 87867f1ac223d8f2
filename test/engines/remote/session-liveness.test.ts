import { expect, it } from 'vitest'
import type { SessionLoss } from '../../../src/engine/engine.ts'
import { SessionLiveness } from '../../../src/engines/remote/session-liveness.ts'
import { SessionPulse } from '../../../src/engines/remote/session-pulse.ts'
import { SystemClock } from '../../../src/time/system-clock.ts'

const TERMS = { id: 's', graceMs: 5_000, heartbeatMs: 1_000 }

function createLiveness(): SessionLiveness {
  const url = new URL('http://127.0.0.1:8086')
  const clock = new SystemClock()
  const pulse = new SessionPulse({ url, token: undefined, client: '', clock, isOn: false })
  return new SessionLiveness(TERMS, 0, pulse)
}

it('a grant that is read together with its loss is in doubt, and whoever got it hears of the loss', async () => {
  const liveness = createLiveness()
  const loss: SessionLoss = { kind: 'all' }
  const heard: SessionLoss[] = []
  const doubts: boolean[] = []
  // As from a socket: everything that has arrived is read in one turn of the event loop.
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      const answer = Promise.resolve('granted')
      void (async () => {
        await answer
        await answer
        doubts.push(liveness.isInDoubt)
        liveness.onLoss((told) => heard.push(told))
      })()
      liveness.lose(loss)
      process.nextTick(() => doubts.push(liveness.isInDoubt))
      setImmediate(resolve)
    })
  })
  expect(heard).toEqual([loss])
  expect(doubts).toEqual([true, true])
  expect(liveness.isInDoubt).toBe(false)
})
