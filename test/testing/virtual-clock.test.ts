import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

describe('the virtual clock', () => {
  it('stands still until it is moved', async () => {
    const clock = new VirtualClock({ nowMs: 5 })
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    expect(clock.nowMs()).toBe(5)
    await clock.advance(10)
    expect(clock.nowMs()).toBe(15)
  })

  it('fires timers by time, then by creation, each at its own instant', async () => {
    const clock = new VirtualClock()
    const fired: string[] = []
    const note = (name: string) => (): void => void fired.push(`${name}@${clock.nowMs()}`)
    clock.setTimer(20, note('late'))
    clock.setTimer(10, note('first'))
    clock.setTimer(10, note('second'))
    clock.setTimer(-3, note('at once'))
    clock.setTimer(31, note('beyond'))
    await clock.advance(30)
    expect(fired).toEqual(['at once@0', 'first@10', 'second@10', 'late@20'])
    expect(clock.pendingTimers).toBe(1)
    expect(clock.nextTimerAtMs).toBe(31)
  })

  it('fires timers that are set on the way', async () => {
    const clock = new VirtualClock()
    const beats: number[] = []
    const beat = (): void => {
      beats.push(clock.nowMs())
      clock.setTimer(10, beat)
    }
    clock.setTimer(10, beat)
    await clock.advance(35)
    expect(beats).toEqual([10, 20, 30])
  })

  it('lets promise continuations of any depth run between two timers', async () => {
    const clock = new VirtualClock()
    const seen: string[] = []
    const deep = async (): Promise<void> => {
      for (let i = 0; i < 1_000; i++) await Promise.resolve()
      seen.push(`deep@${clock.nowMs()}`)
    }
    clock.setTimer(1, () => void deep())
    clock.setTimer(2, () => seen.push('second timer'))
    await clock.advance(5)
    expect(seen).toEqual(['deep@1', 'second timer'])
  })

  it('lets what was started before the call run before the first timer', async () => {
    const clock = new VirtualClock()
    let fired = false
    const start = async (): Promise<void> => {
      await Promise.resolve()
      clock.setTimer(1, () => {
        fired = true
      })
    }
    void start()
    await clock.advance(1)
    expect(fired).toBe(true)
  })

  it('does not fire a cancelled timer, also when another timer cancels it', async () => {
    const clock = new VirtualClock()
    let fired = 0
    const victims = [clock.setTimer(5, () => fired++), clock.setTimer(10, () => fired++)]
    clock.setTimer(10, () => fired++)
    victims[0]?.cancel()
    clock.setTimer(9, () => victims[1]?.cancel())
    await clock.advance(20)
    expect(fired).toBe(1)
    expect(clock.pendingTimers).toBe(0)
  })

  it('moves the wall clock with time, and by jumps that nothing else notices', async () => {
    const clock = new VirtualClock({ wallMs: 1_000 })
    let fired = false
    clock.setTimer(10, () => {
      fired = true
    })
    clock.jumpWall(-3_600_000)
    await clock.advance(5)
    expect(clock.wallMs()).toBe(1_005 - 3_600_000)
    expect([clock.nowMs(), fired]).toEqual([5, false])
  })

  it('runs until no timer is left', async () => {
    const clock = new VirtualClock()
    clock.setTimer(1_000_000, () => clock.setTimer(500, () => {}))
    expect(await clock.runUntilIdle()).toBe(2)
    expect(clock.nowMs()).toBe(1_000_500)
    expect(await clock.runNext()).toBe(false)
  })

  it('gives up on timers that set each other for ever', async () => {
    const clock = new VirtualClock()
    const again = (): void => void clock.setTimer(0, again)
    again()
    await expect(clock.runUntilIdle()).rejects.toThrow('still being set')
  })

  it('passes on what a callback throws and stays usable', async () => {
    const clock = new VirtualClock()
    clock.setTimer(1, () => {
      throw new Error('broken callback')
    })
    await expect(clock.advance(5)).rejects.toThrow('broken callback')
    await clock.advance(4)
    expect(clock.nowMs()).toBe(5)
  })

  it('refuses to be moved twice at once', async () => {
    const clock = new VirtualClock()
    const first = clock.advance(1)
    await expect(clock.advance(1)).rejects.toThrow('already moving')
    await first
  })

  it('does the same thing every time', async () => {
    const trace = async (): Promise<string> => {
      const clock = new VirtualClock()
      const seen: string[] = []
      for (let i = 0; i < 50; i++) {
        clock.setTimer((i * 7) % 13, () => {
          seen.push(`${i}@${clock.nowMs()}`)
          if (i % 3 === 0) clock.setTimer(i % 5, () => seen.push(`again ${i}@${clock.nowMs()}`))
        })
      }
      await clock.runUntilIdle()
      return seen.join(' ')
    }
    expect(await trace()).toBe(await trace())
  })
})
