import { expect, it } from 'vitest'
import type { SessionLoss } from '../../../src/engine/engine.ts'
import { HeartbeatThread } from '../../../src/engines/remote/heartbeat-thread.ts'
import { SessionLiveness } from '../../../src/engines/remote/session-liveness.ts'
import type { Welcome } from '../../../src/wire/session/session-message.ts'
import { SystemClock } from '../../../src/time/system-clock.ts'

const WELCOME = {
  kind: 'welcome',
  session: 's',
  graceMs: 5_000,
  heartbeatMs: 1_000,
  losses: 7,
} as Welcome
const LOST = { namespace: 'lock', key: 'k', owner: 'a', token: 3, end: 'forced' } as const

function createLiveness(): SessionLiveness {
  const address = { url: 'http://127.0.0.1:8086', token: undefined, tls: undefined, client: '' }
  const clock = new SystemClock()
  const thread = new HeartbeatThread({ ...address, clock, session: 's', heartbeatMs: 1_000 })
  return new SessionLiveness(WELCOME, thread, false)
}

it('a caller that is granted something hears of its loss, if both are read together', async () => {
  const liveness = createLiveness()
  const heard: SessionLoss[] = []
  // As from a socket: everything that has arrived is read in one turn of the event loop.
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      const answer = Promise.resolve('granted')
      void (async () => {
        await answer
        await answer
        liveness.onLoss((loss) => heard.push(loss))
      })()
      liveness.onLost({ kind: 'lost', ...LOST })
      setImmediate(resolve)
    })
  })
  expect(heard).toEqual([{ kind: 'hold', ...LOST }])
})

it('a loss without a name means that anything may be lost, and so does a new connection', async () => {
  const liveness = createLiveness()
  const heard: SessionLoss[] = []
  const stop = liveness.onLoss((loss) => heard.push(loss))
  liveness.onWelcome(WELCOME)
  expect(heard).toEqual([{ kind: 'unknown' }])
  liveness.onLost({ kind: 'lost' })
  await expect.poll(() => heard).toEqual([{ kind: 'unknown' }, { kind: 'unknown' }])
  stop()
  liveness.onWelcome(WELCOME)
  expect(heard).toHaveLength(2)
})

it('only a later heartbeat moves the time of the last one that counts', () => {
  const liveness = createLiveness()
  const nowMs = new SystemClock().nowMs()
  liveness.onHeard(nowMs)
  expect(liveness.confirmedAtMs).toBeCloseTo(nowMs, 2)
  liveness.onHeard(nowMs - 5)
  expect(liveness.confirmedAtMs).toBeCloseTo(nowMs, 2)
})
