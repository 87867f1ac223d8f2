import { describe, expect, it, vi } from 'vitest'
import { openVirtualLocks, rejectionOf } from '../virtual-locks.ts'

describe('once', () => {
  it('one runs it, the others wait and receive its value, and so do those who come later', async () => {
    const { locks, connect, clock } = openVirtualLocks()
    const build = vi.fn(async () => {
      await new Promise<void>((resolve) => void clock.setTimer(2_000, resolve))
      return { rows: 3 }
    })
    const running = Promise.all([
      locks.once('report', build),
      locks.once('report', build),
      connect().once('report', build),
    ])
    await clock.advance(2_000)
    const outcomes = await running
    expect(outcomes.map(({ ran }) => ran)).toEqual([true, false, false])
    expect(outcomes.map(({ value }) => value)).toEqual(Array(3).fill({ rows: 3 }))
    expect(await connect().once('report', build)).toEqual({ ran: false, value: { rows: 3 } })
    expect(build).toHaveBeenCalledOnce()
  })

  it('runs again when the memory has passed', async () => {
    const { locks, clock } = openVirtualLocks({ retentionMs: 60_000 })
    const build = vi.fn(() => 1)
    await locks.once('report', build)
    await clock.advance(59_000)
    expect((await locks.once('report', build)).ran).toBe(false)
    await clock.advance(1_000)
    expect((await locks.once('report', build)).ran).toBe(true)
  })

  it('a success of another version does not count', async () => {
    const { locks } = openVirtualLocks()
    await locks.once('report', () => 'one', { version: '1' })
    expect(await locks.once('report', () => 'two', { version: '2' })).toEqual({
      ran: true,
      value: 'two',
    })
    expect(await locks.once('report', () => 'three', { version: '2' })).toEqual({
      ran: false,
      value: 'two',
    })
    expect(await locks.once('report', () => 'four')).toEqual({ ran: true, value: 'four' })
  })

  it('if it throws, its own error comes back and the next one runs it', async () => {
    const { locks } = openVirtualLocks()
    const own = new Error('my own')
    const failing = rejectionOf(locks.once('report', () => Promise.reject(own)))
    const second = locks.once('report', () => 'second')
    expect(await failing).toBe(own)
    expect(await second).toEqual({ ran: true, value: 'second' })
  })

  it('everyone gets the JSON form of the value, who ran it included', async () => {
    const { locks } = openVirtualLocks()
    const date = new Date(0)
    const first = await locks.once<unknown>('report', () => ({ date, none: undefined }))
    const second = await locks.once<unknown>('report', () => 0)
    expect(first.value).toEqual({ date: '1970-01-01T00:00:00.000Z' })
    expect(second.value).toEqual(first.value)
    expect(await locks.once('nothing', () => undefined)).toEqual({ ran: true, value: undefined })
    expect(await locks.once('nothing', () => 1)).toEqual({ ran: false, value: undefined })
  })

  it.each([
    ['a circle', circle, /circular/i],
    ['a bigint', () => 10n, /BigInt/],
    ['a function', () => () => 1, /a function has no JSON form/],
    ['too many bytes', () => 'x'.repeat(8_193), /8195 bytes and may have 8192/],
  ])('%s is refused with the reason, and the next one runs', async (_, run, message) => {
    const { locks } = openVirtualLocks()
    const error = await rejectionOf(locks.once<unknown>('report', run))
    expect(error).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT' })
    expect((error as Error).message).toMatch(
      /^the value of once\("report"\) cannot be kept as JSON/,
    )
    expect((error as Error).message).toMatch(message)
    expect(await locks.once('report', () => 1)).toEqual({ ran: true, value: 1 })
  })

  it('is renewed while it runs, and its signal aborts when it is lost', async () => {
    const { locks, clock } = openVirtualLocks()
    let signal: AbortSignal | undefined
    const running = rejectionOf(
      locks.once(
        'report',
        async (context) => {
          signal = context.signal
          await new Promise<void>((resolve) => void clock.setTimer(60_000, resolve))
          return 1
        },
        { ttl: '10s' },
      ),
    )
    await clock.advance(30_000)
    expect(signal?.aborted).toBe(false)
    await locks.forceRelease('report', { kind: 'operation' })
    await clock.advance(4_000)
    expect(signal?.reason).toMatchObject({ code: 'LOCK_LOST', details: { reason: 'forced' } })
    await clock.advance(60_000)
    expect(await running).toMatchObject({ code: 'LOCK_LOST' })
  })

  it('the wait of the others has a time-out and an abort', async () => {
    const { locks, clock } = openVirtualLocks()
    const running = locks.once('report', async () => {
      await new Promise<void>((resolve) => void clock.setTimer(60_000, resolve))
    })
    await clock.settle()
    const timing = rejectionOf(locks.once('report', () => undefined, { wait: '1s' }))
    const controller = new AbortController()
    const aborting = rejectionOf(
      locks.once('report', () => undefined, { signal: controller.signal }),
    )
    await clock.advance(1_000)
    controller.abort()
    expect(await timing).toMatchObject({ code: 'LOCK_WAIT_TIMEOUT' })
    expect(((await timing) as Error).message).toMatch(/held by once:alice-.* since 2030-01-01/)
    expect(await aborting).toMatchObject({ code: 'LOCK_ABORTED' })
    await clock.advance(60_000)
    expect((await running).ran).toBe(true)
  })

  it('has nothing to do with the lock of the same name', async () => {
    const { locks } = openVirtualLocks()
    await locks.acquire('report')
    expect((await locks.once('report', () => 1)).ran).toBe(true)
  })
})

function circle(): unknown {
  const value: Record<string, unknown> = {}
  value['self'] = value
  return value
}
