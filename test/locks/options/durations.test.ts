import { describe, expect, it } from 'vitest'
import { isLockError } from '../../../src/engine/errors/errors.ts'
import { type DurationRule, parseDuration } from '../../../src/locks/options/durations.ts'
import { openVirtualLocks, rejectionOf } from '../virtual-locks.ts'

const rule: DurationRule = { option: 'pause', minMs: 0, maxMs: 10 * 86_400_000 }

describe('durations', () => {
  it.each([
    [0, 0],
    [250, 250],
    ['300ms', 300],
    ['10s', 10_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
    ['1.5s', 1_500],
    [1.2, 2],
  ])('%s is %d ms', (value, ms) => {
    expect(parseDuration(value, rule)).toBe(ms)
  })

  it.each([
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [Number.NEGATIVE_INFINITY],
    [-1],
    [0.5],
    ['0.5ms'],
    ['10'],
    ['10 s'],
    ['-5s'],
    ['5 minutes'],
    ['1w'],
    ['s'],
    [''],
    ['1e3s'],
    [null],
    [true],
    [10n],
    [{}],
    [11 * 86_400_000],
  ])('%s is refused in the name of the option', (value) => {
    try {
      parseDuration(value, rule)
    } catch (error) {
      expect(isLockError(error, 'LOCK_INVALID_ARGUMENT')).toBe(true)
      expect((error as Error).message).toMatch(/^pause cannot be /)
      return
    }
    expect.unreachable()
  })

  it('infinity is a duration only where an option has no end', () => {
    expect(parseDuration(Number.POSITIVE_INFINITY, { ...rule, endless: true })).toBe(
      Number.POSITIVE_INFINITY,
    )
  })

  it('a lease below or above the limits is refused with the limits', async () => {
    const { locks } = openVirtualLocks()
    for (const ttl of [0, 50, '25h', Number.POSITIVE_INFINITY] as const) {
      const error = await rejectionOf(locks.acquire('a', { ttl }))
      expect(error).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT', details: { option: 'ttl' } })
    }
    const error = await rejectionOf(locks.acquire('a', { wait: -1 }))
    expect(error).toMatchObject({ code: 'LOCK_INVALID_ARGUMENT', details: { option: 'wait' } })
  })

  it('text and numbers mean the same', async () => {
    const { locks, engine } = openVirtualLocks()
    await locks.acquire('a', { ttl: '10s', wait: '1m' })
    await locks.acquire('b', { ttl: 10_000, wait: 60_000 })
    const [first, second] = engine.sentOf('acquire')
    expect(first).toMatchObject({ ttlMs: 10_000, waitMs: 60_000 })
    expect(second).toMatchObject({ ttlMs: 10_000, waitMs: 60_000 })
  })
})
