import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EndsSnapshot, type NumberedEnd } from '../../../src/engines/sql/snapshot/ends-snapshot.ts'
import { ENDED_PER_KEY_MAX, ENDED_REMEMBERED_MS } from '../../../src/law/model/limits.ts'
import type { Ended } from '../../../src/law/model/view.ts'

function endOf(index: number, atMs: number): Ended {
  const answer = { kind: 'hold-ended', end: 'released' } as const
  return { verb: 'acquire', owner: 'a', requestId: `r${index}`, mode: 'write', atMs, answer }
}

/** The table, written as an engine would. */
class EndTable {
  rows: NumberedEnd[] = []
  version = 0
  #ends = new EndsSnapshot()

  /** Decide something at this moment, with these ends. Returns how many are still to be told of. */
  change(nowMs: number, ends: readonly Ended[]): number {
    for (const one of ends) this.#ends.add(one)
    const { added, keptFrom, count } = this.#ends.write(nowMs, this.version + 1)
    this.rows = [...this.rows.filter(({ number }) => number >= keptFrom), ...added]
    this.version += 1
    this.#ends.commit(nowMs, this.version)
    return count
  }

  /** Another process comes and knows what is in the table only. */
  reload(): void {
    this.#ends = new EndsSnapshot()
    this.#ends.take(this.rows)
  }

  find(requestId: string): Ended | undefined {
    return this.#ends.find('acquire', 'a', requestId)
  }

  untilMs(nowMs: number): number | null {
    return this.#ends.untilMs(nowMs)
  }
}

const steps = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 0, max: ENDED_REMEMBERED_MS / 8 }),
    count: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 60, max: 200 })),
    isOther: fc.boolean(),
  }),
  { maxLength: 60 },
)

describe('the ends of a key', () => {
  it('are told for as long as they are remembered, whoever asks, and do not pile up', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const table = new EndTable()
        const all: Ended[] = []
        let nowMs = 1_000
        for (const { afterMs, count, isOther } of list) {
          nowMs += afterMs
          const ends = Array.from({ length: count }, (_, index) => endOf(all.length + index, nowMs))
          all.push(...ends)
          if (isOther) table.reload()
          const told = table.change(nowMs, ends)
          const remembered = all
            .slice(-ENDED_PER_KEY_MAX)
            .filter(({ atMs }) => atMs + ENDED_REMEMBERED_MS > nowMs)
          expect(told).toBe(remembered.length)
          for (const one of remembered) expect(table.find(one.requestId)).toEqual(one)
          const older = all.at(-ENDED_PER_KEY_MAX - 1)
          if (older !== undefined) expect(table.find(older.requestId)).toBeUndefined()
          const last = remembered.at(-1)
          const untilMs = last === undefined ? null : last.atMs + ENDED_REMEMBERED_MS
          expect(table.untilMs(nowMs)).toBe(untilMs)
          expect(table.rows.length).toBeLessThanOrEqual(ENDED_PER_KEY_MAX + 32)
          expect(new Set(table.rows.map(({ number }) => number)).size).toBe(table.rows.length)
        }
      }),
    )
  })

  it('in progress are found before they are written', () => {
    const ends = new EndsSnapshot()
    ends.add(endOf(1, 5))
    expect(ends.find('acquire', 'a', 'r1')).toEqual(endOf(1, 5))
    expect(ends.find('release', 'a', 'r1')).toBeUndefined()
    expect(ends.lastOf('a')).toEqual(endOf(1, 5))
    expect(ends.lastOf('b')).toBeUndefined()
  })
})
