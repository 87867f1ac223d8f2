import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import type { Clock, Timer } from '../../../src/time/clock.ts'

const KEYS = 4_500
const TTL_MS = 10_000
/** The turns that it takes: a thousand keys in each. */
const TURNS = 5

/** A clock whose timers fire when a test says so, as those of a process that is busy. */
class BusyClock implements Clock {
  now = 1_000
  readonly #timers = new Set<{ readonly atMs: number; readonly callback: () => void }>()

  nowMs(): number {
    return this.now
  }

  wallMs(): number {
    return this.now
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { atMs: this.now + delayMs, callback }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer), ref: () => {}, unref: () => {} }
  }

  /** Those that are due now; not those that they set. */
  fire(): number {
    const due = [...this.#timers].filter(({ atMs }) => atMs <= this.now)
    for (const timer of due) {
      this.#timers.delete(timer)
      timer.callback()
    }
    return due.length
  }
}

let clock: BusyClock
let engine: LockEngine

beforeEach(() => {
  clock = new BusyClock()
  engine = openMemoryEngine({ clock })
})

afterEach(() => engine.close())

const nameOf = (index: number): string => `k${index}`

async function hold(session?: string): Promise<void> {
  for (let index = 0; index < KEYS; index += 1) {
    const asked = { owner: 'a', requestId: '1', ttlMs: TTL_MS, session }
    await engine.apply({ kind: 'acquire', key: nameOf(index), ...asked })
  }
}

const countHolds = async (): Promise<number> => (await engine.read({ kind: 'stats' })).holds

describe('more leases that end at once than fit into a turn', () => {
  it('end in parts, with turns for others in between', async () => {
    await hold()
    clock.now += TTL_MS
    const left: number[] = []
    while (clock.fire() > 0) left.push(await countHolds())
    expect(left).toHaveLength(TURNS)
    expect(left.at(-1)).toBe(0)
    expect(left[0]).toBeGreaterThan(KEYS / 2)
  })

  it('are over for every command and every inspection before that', async () => {
    await hold()
    clock.now += TTL_MS
    for (const index of [KEYS - 1, KEYS - 2, 0]) {
      const key = nameOf(index)
      expect((await engine.read({ kind: 'inspect', key })).holders).toEqual([])
      const asked = { kind: 'acquire', key, owner: 'b', requestId: '1' } as const
      expect(await engine.apply(asked)).toMatchObject({ kind: 'granted' })
    }
    const key = nameOf(KEYS - 3)
    const renewed = await engine.apply({ kind: 'renew', key, owner: 'a', ttlMs: TTL_MS })
    expect(renewed).toMatchObject({ kind: 'refused', code: 'not_holder' })
    // Nothing of this was done by a timer.
    expect(await countHolds()).toBeGreaterThan(KEYS / 2)
  })
})

describe('a session with more holds than fit into a turn', () => {
  beforeEach(async () => {
    await engine.apply({ kind: 'open-session', session: 's', graceMs: 60_000 })
    await hold('s')
  })

  it('is answered its good-bye when the last of them has ended', async () => {
    const closing = Promise.resolve(engine.apply({ kind: 'close-session', session: 's' }))
    expect(await countHolds()).toBeGreaterThan(KEYS / 2)
    const late = await engine.apply({
      ...{ kind: 'acquire', key: 'new', owner: 'a', requestId: '1', session: 's' },
    })
    expect(late).toMatchObject({ kind: 'refused', code: 'no_session' })
    while (clock.fire() > 0);
    expect(await closing).toEqual({ kind: 'session-closed', ended: KEYS })
    expect(await engine.read({ kind: 'stats' })).toMatchObject({ holds: 0, sessions: 0 })
  })

  it('is over when it is opened anew under its name', async () => {
    const closing = Promise.resolve(engine.apply({ kind: 'close-session', session: 's' }))
    const opened = await engine.apply({ kind: 'open-session', session: 's', graceMs: 60_000 })
    expect(opened).toEqual({ kind: 'session-opened', resumed: false })
    expect(await closing).toEqual({ kind: 'session-closed', ended: KEYS })
    expect(await engine.read({ kind: 'stats' })).toMatchObject({ holds: 0, sessions: 1 })
  })

  it('fails its good-bye when the engine is closed meanwhile', async () => {
    const closing = Promise.resolve(engine.apply({ kind: 'close-session', session: 's' }))
    const failed = closing.catch((error: unknown) => error)
    await engine.close()
    expect(await failed).toMatchObject({ code: 'LOCK_ENGINE_CLOSED' })
  })
})
