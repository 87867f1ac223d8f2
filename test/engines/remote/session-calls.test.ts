import { describe, expect, it } from 'vitest'
import { SessionCalls } from '../../../src/engines/remote/session-calls.ts'
import type { SessionLink } from '../../../src/engines/remote/session-link.ts'
import type { Request } from '../../../src/wire/session/session-message.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

const ACQUIRE = { kind: 'acquire', key: 'k', owner: 'a', requestId: '1' } as const
const RELEASE = { kind: 'release', key: 'k', owner: 'a' } as const

interface Rig {
  readonly clock: VirtualClock
  readonly calls: SessionCalls
  /** What was written, with the ids. */
  readonly written: [number, Request][]
  /** The connection breaks; or there is one again. */
  down(): void
  up(): void
}

function openRig(): Rig {
  const clock = new VirtualClock()
  const written: [number, Request][] = []
  const link = {
    isReady: true,
    isUp: true,
    keepAlive: () => {},
    write: (id: number, request: Request) => written.push([id, request]),
  }
  const set = (isUp: boolean): void => void Object.assign(link, { isReady: isUp, isUp })
  const calls = new SessionCalls({
    link: link as unknown as SessionLink,
    clock,
    retryForMs: 10_000,
  })
  return {
    ...{ clock, calls, written },
    down: () => {
      set(false)
      calls.onDown(new Error('cut'))
    },
    up: () => {
      set(true)
      calls.onUp()
    },
  }
}

describe('after a lost connection', () => {
  it('a wait is asked for again for what is left of it, however often', async () => {
    const { clock, calls, written, down, up } = openRig()
    calls.start({ ...ACQUIRE, waitMs: 2_000 })
    for (const passes of [500, 700]) {
      down()
      await clock.advance(passes)
      up()
    }
    down()
    await clock.advance(5_000)
    up()
    expect(written.map(([, request]) => 'waitMs' in request && request.waitMs)).toEqual([
      2_000, 1_500, 800, 1,
    ])
  })

  it('what is unanswered is written in the order in which it was given, before anything new', () => {
    const { calls, written, down, up } = openRig()
    const early = [1, 2, 3].map((requestId) =>
      calls.start({ ...ACQUIRE, requestId: `early${requestId}` }),
    )
    for (const { id } of early) calls.take(id)
    const names = ['1', '2', '3', '4']
    for (const requestId of names) calls.start({ ...ACQUIRE, requestId })
    written.length = 0
    down()
    calls.start({ ...ACQUIRE, requestId: '5' })
    up()
    calls.start({ ...ACQUIRE, requestId: '6' })
    expect(written.map(([, request]) => 'requestId' in request && request.requestId)).toEqual([
      ...names,
      '5',
      '6',
    ])
    const ids = written.map(([id]) => id)
    expect(ids).not.toEqual(ids.toSorted((one, other) => one - other))
  })

  it('what cannot be sent twice fails at once if it was sent, and is written later if not', async () => {
    const { calls, written, down, up } = openRig()
    const sent = calls.start(RELEASE)
    const named = calls.start({ ...RELEASE, requestId: 'r' })
    down()
    const unsent = calls.start(RELEASE)
    await expect(sent.promise).rejects.toMatchObject({ applied: 'maybe' })
    up()
    expect(written.map(([id]) => id)).toEqual([sent.id, named.id, named.id, unsent.id])
    expect(unsent.id).toBe(sent.id)
  })

  it('a call fails that was not answered for too long, and says whether it may have been applied', async () => {
    const { clock, calls, down } = openRig()
    const sent = calls.start(ACQUIRE)
    const read = calls.start({ kind: 'read', query: { kind: 'stats' } })
    down()
    const unsent = calls.start({ ...ACQUIRE, requestId: '2' })
    const failures = Promise.all(
      [sent, read, unsent].map(({ promise }) => promise.catch((error: unknown) => error)),
    )
    await clock.advance(11_000)
    expect(await failures).toMatchObject([
      { code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'maybe' },
      { code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'no' },
      { code: 'LOCK_ENGINE_UNAVAILABLE', applied: 'no' },
    ])
    expect(clock.pendingTimers).toBe(0)
  })
})
