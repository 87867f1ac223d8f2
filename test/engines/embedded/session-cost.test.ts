import { afterEach, describe, expect, it, vi } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { KeyQueue } from '../../../src/engines/embedded/table/key-queue.ts'
import { KeyState } from '../../../src/engines/embedded/table/key-state.ts'
import { Roster } from '../../../src/engines/embedded/table/roster.ts'
import { decide, type Law } from '../../../src/law/decide.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { countLooks } from '../../law/world/counted-view.ts'

const GRACE_MS = 5_000
const ACQUIRE = { kind: 'acquire', requestId: '1', ttlMs: 60_000, mode: 'read' } as const
const WAIT = { waitMs: 60_000, detach: true } as const

afterEach(() => vi.restoreAllMocks())

/** Counts every hold and waiter that the table walks past, whether or not it shows it to the law. */
function countSteps(): { steps: number } {
  const count = { steps: 0 }
  const counted = <Item>(items: Iterable<Item>): Item[] => {
    const list = [...items]
    count.steps += list.length
    return list
  }
  const { holds } = KeyState.prototype
  vi.spyOn(KeyState.prototype, 'holds').mockImplementation(function (this: KeyState) {
    return counted(holds.call(this))
  })
  for (const { prototype } of [Roster, KeyQueue]) {
    const walk = prototype[Symbol.iterator] as () => Iterator<unknown>
    vi.spyOn(prototype, Symbol.iterator).mockImplementation(function (this: unknown) {
      return counted({ [Symbol.iterator]: () => walk.call(this) })[Symbol.iterator]() as never
    })
  }
  return count
}

/** What the law looked at, added up over all decisions. */
function countingLaw(): { readonly law: Law; looks: number } {
  const count = {
    looks: 0,
    law: ((counted, command, nowMs) => {
      const { view, looks } = countLooks(counted)
      const decision = decide(view, command, nowMs)
      for (const some of Object.values(looks.byMember)) count.looks += some
      return decision
    }) as Law,
  }
  return count
}

type Fill = (engine: LockEngine, size: number) => Promise<void>

/** `size` things that end with sessions, in different arrangements. */
const SCENES: Readonly<Record<string, Fill>> = {
  'one session holds many keys': async (engine, size) => {
    for (let n = 0; n < size; n += 1) {
      await engine.apply({ ...ACQUIRE, key: `k${n}`, owner: 'o', session: 's0' })
    }
  },
  'one session holds one key for many owners': async (engine, size) => {
    for (let n = 0; n < size; n += 1) {
      await engine.apply({ ...ACQUIRE, key: 'k', owner: `o${n}`, session: 's0' })
    }
  },
  'one session waits for many keys': async (engine, size) => {
    for (let n = 0; n < size; n += 1) {
      await engine.apply({ ...ACQUIRE, key: `k${n}`, owner: 'x', mode: 'write' })
      await engine.apply({ ...ACQUIRE, ...WAIT, key: `k${n}`, owner: 'o', session: 's0' })
    }
  },
  'one session waits for one key for many owners': async (engine, size) => {
    await engine.apply({ ...ACQUIRE, key: 'k', owner: 'x', mode: 'write' })
    for (let n = 0; n < size; n += 1) {
      await engine.apply({ ...ACQUIRE, ...WAIT, key: 'k', owner: `o${n}`, session: 's0' })
    }
  },
  'many sessions hold one key': async (engine, size) => {
    for (let n = 0; n < size; n += 1) {
      await engine.apply({ ...ACQUIRE, key: 'k', owner: `o${n}`, session: `s${n}` })
    }
  },
  'many sessions wait for one key': async (engine, size) => {
    await engine.apply({ ...ACQUIRE, key: 'k', owner: 'x', mode: 'write' })
    for (let n = 0; n < size; n += 1) {
      await engine.apply({ ...ACQUIRE, ...WAIT, key: 'k', owner: `o${n}`, session: `s${n}` })
    }
  },
}

/** What it costs to end every session of a scene, all by silence or one by one by a good-bye. */
async function costOf(fill: Fill, size: number, isSaid: boolean): Promise<number> {
  const clock = new VirtualClock()
  const counting = countingLaw()
  await using engine = openMemoryEngine({ clock, law: counting.law })
  for (let n = 0; n < size; n += 1) {
    // Silence alone ends the holds of a stream session only.
    const open = { kind: 'open-session', graceMs: GRACE_MS, keepsLeases: isSaid } as const
    await engine.apply({ ...open, session: `s${n}` })
  }
  await fill(engine, size)
  const { holds, waiters } = await engine.read({ kind: 'stats' })
  expect(holds + waiters).toBeGreaterThanOrEqual(size)
  counting.looks = 0
  const walked = countSteps()
  if (!isSaid) await clock.advance(GRACE_MS)
  else {
    for (let n = 0; n < size; n += 1) {
      await engine.apply({ kind: 'close-session', session: `s${n}` })
    }
  }
  vi.restoreAllMocks()
  const left = await engine.read({ kind: 'stats' })
  expect(left.sessions).toBe(0)
  expect(left.holds + left.waiters).toBe(holds + waiters - size)
  return walked.steps + counting.looks
}

describe.each(Object.entries(SCENES))(
  'ten times as much costs ten times as much: %s',
  (_, fill) => {
    it.each([
      ['fall silent', false],
      ['say good-bye', true],
    ])('and they %s', async (_name, isSaid) => {
      const few = await costOf(fill, 100, isSaid)
      expect(few).toBeGreaterThanOrEqual(100)
      expect(await costOf(fill, 1_000, isSaid)).toBeLessThanOrEqual(11 * few)
    })
  },
)

it('and the count counts: a table that walks through all of a session for each key costs more', async () => {
  const fill = SCENES['one session holds many keys'] as Fill
  const costOfWalking = (size: number): Promise<number> => {
    vi.spyOn(KeyState.prototype, 'holdsIn').mockImplementation(function* (this: KeyState, session) {
      for (const hold of this.shard.table.sessions.get(session)?.holds ?? []) {
        if (hold.state === this) yield hold
      }
    })
    return costOf(fill, size, true)
  }
  const few = await costOfWalking(100)
  expect(await costOfWalking(1_000)).toBeGreaterThan(50 * few)
})
