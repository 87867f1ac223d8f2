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

it('a loss that comes in one frame with its grant is heard by whoever got the grant', async () => {
  const liveness = createLiveness()
  const loss: SessionLoss = { kind: 'all' }
  const heard: SessionLoss[] = []
  // As from a socket: everything in a frame is read in one turn of the event loop.
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      const answer = Promise.resolve('granted')
      void (async () => {
        await answer
        await answer
        liveness.onLoss((told) => heard.push(told))
      })()
      liveness.lose(loss)
      setImmediate(resolve)
    })
  })
  expect(heard).toEqual([loss])
})
