import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RenewalSchedule, type Scheduled } from '../../../src/locks/lease/renewal-schedule.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'

class Entry implements Scheduled {
  dueAtMs = 0
  list: Scheduled['list'] = null
  previous: Scheduled | null = null
  next: Scheduled | null = null
  readonly fellAtMs: number[] = []
  dismissed = 0

  fallDue(nowMs: number): void {
    this.fellAtMs.push(nowMs)
  }

  dismiss(): void {
    this.dismissed += 1
  }
}

describe('the renewal schedule', () => {
  it('looks at every entry once, at its time or up to an eighth of its delay earlier', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            waitMs: fc.integer({ min: 0, max: 50 }),
            delayMs: fc.integer({ min: 0, max: 100_000 }),
            leaves: fc.boolean(),
          }),
          { maxLength: 60 },
        ),
        async (steps) => {
          const clock = new VirtualClock()
          const schedule = new RenewalSchedule(clock)
          const added: { entry: Entry; atMs: number; delayMs: number; leaves: boolean }[] = []
          for (const { waitMs, delayMs, leaves } of steps) {
            await clock.advance(waitMs)
            const entry = new Entry()
            schedule.add(entry, clock.nowMs(), delayMs)
            if (leaves) schedule.remove(entry)
            added.push({ entry, atMs: clock.nowMs(), delayMs, leaves })
          }
          await clock.advance(101_000)
          for (const { entry, atMs, delayMs, leaves } of added) {
            if (leaves) {
              expect(entry.fellAtMs).toEqual([])
              continue
            }
            const [afterMs = Number.NaN] = entry.fellAtMs.map((fellAtMs) => fellAtMs - atMs)
            expect(entry.fellAtMs).toHaveLength(1)
            expect(afterMs).toBeGreaterThanOrEqual(Math.floor((delayMs * 7) / 8))
            expect(afterMs).toBeLessThanOrEqual(Math.max(1, delayMs))
          }
          expect(clock.pendingTimers).toBe(0)
        },
      ),
    )
  })

  it('has one timer at most, and none when there is nothing to look at', async () => {
    const clock = new VirtualClock()
    const schedule = new RenewalSchedule(clock)
    const entries = [5_000, 100, 90_000].map((delayMs) => {
      const entry = new Entry()
      schedule.add(entry, clock.nowMs(), delayMs)
      return entry
    })
    expect(clock.pendingTimers).toBe(1)
    for (const entry of entries) schedule.remove(entry)
    await clock.advance(100)
    expect(clock.pendingTimers).toBe(0)
  })

  it('an entry that enters again while it is looked at is not looked at twice', async () => {
    const clock = new VirtualClock()
    const schedule = new RenewalSchedule(clock)
    const entry = new Entry()
    entry.fallDue = (nowMs) => {
      entry.fellAtMs.push(nowMs)
      schedule.add(entry, nowMs, 1)
    }
    schedule.add(entry, 0, 1)
    await clock.advance(10)
    expect(entry.fellAtMs).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('close dismisses everyone, parked or not, and stops the timer', () => {
    const clock = new VirtualClock()
    const schedule = new RenewalSchedule(clock)
    const [parked, added, gone] = [new Entry(), new Entry(), new Entry()]
    schedule.park(parked)
    schedule.add(added, 0, 1_000)
    schedule.add(gone, 0, 1_000)
    schedule.remove(gone)
    schedule.close()
    expect([parked.dismissed, added.dismissed, gone.dismissed]).toEqual([1, 1, 0])
    expect(clock.pendingTimers).toBe(0)
  })
})
