import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { SystemClock } from '../../src/time/system-clock.ts'

describe('the system clock', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('fires a timer not before its time', async () => {
    const clock = new SystemClock()
    const late: number[] = []
    await Promise.all(
      [0, 0.4, 1, 2.5, 7].map(async (delayMs) => {
        const dueAtMs = clock.nowMs() + delayMs
        await new Promise<void>((resolve) => {
          clock.setTimer(delayMs, resolve).ref()
        })
        late.push(clock.nowMs() - dueAtMs)
      }),
    )
    expect(late).toHaveLength(5)
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
  })

  it('never fires before setTimer has returned, and takes a negative delay as zero', async () => {
    const clock = new SystemClock()
    const order: string[] = []
    await new Promise<void>((resolve) => {
      const fire = (): void => {
        order.push('fired')
        resolve()
      }
      clock.setTimer(-5, fire).ref()
      order.push('returned')
    })
    expect(order).toEqual(['returned', 'fired'])
  })

  it('does not fire a delay of more than 2^31 - 1 ms at once', () => {
    vi.useFakeTimers()
    const clock = new SystemClock()
    const delayMs = 3 * 2 ** 31
    let fired = 0
    clock.setTimer(delayMs, () => fired++)
    vi.advanceTimersByTime(delayMs - 1)
    expect(fired).toBe(0)
    vi.advanceTimersByTime(1)
    expect(fired).toBe(1)
  })

  it('does not fire a cancelled timer, not even one in the middle of a long chain', () => {
    vi.useFakeTimers()
    const clock = new SystemClock()
    let fired = 0
    const timer = clock.setTimer(2 ** 32, () => fired++)
    vi.advanceTimersByTime(2 ** 31 + 5)
    timer.cancel()
    timer.cancel()
    vi.advanceTimersByTime(2 ** 33)
    expect(fired).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([NaN, Infinity, -Infinity])('refuses a delay of %s', (delayMs) => {
    expect(() => new SystemClock().setTimer(delayMs, () => {})).toThrow(RangeError)
  })

  it('keeps the process alive only for a timer that was asked to', async () => {
    const module = new URL('../../src/time/system-clock.ts', import.meta.url)
    const program = (call: string): string => `
      const { SystemClock } = await import(${JSON.stringify(module.href)})
      const timer = new SystemClock().setTimer(50, () => console.log('fired'))
      ${call}`
    const run = async (call: string): Promise<string> => {
      const args = ['--import', 'tsx', '--input-type=module', '-e', program(call)]
      return (await promisify(execFile)(process.execPath, args)).stdout
    }
    const outputs = await Promise.all([
      run(''),
      run('timer.ref()'),
      run('timer.ref(); timer.unref()'),
    ])
    expect(outputs).toEqual(['', 'fired\n', ''])
  })
})
