import { describe, expect, it } from 'vitest'
import type { SequentialModel, TimedOperation } from '../../src/testing/linearizability.ts'
import { checkLinearizable, partitionBy } from '../../src/testing/linearizability.ts'
import { Random } from '../../src/testing/random.ts'

type RegisterOperation =
  | { readonly kind: 'write'; readonly value: number }
  | { readonly kind: 'read'; readonly value: number }

const register: SequentialModel<number, RegisterOperation> = {
  initial: 0,
  step: (state, { kind, value }) => {
    if (kind === 'write') return value
    return state === value ? state : null
  },
  fingerprint: String,
}

/** The same, with the hint that reading changes nothing. */
const hintedRegister: typeof register = { ...register, observes: ({ kind }) => kind === 'read' }

type Timed = TimedOperation<RegisterOperation>

const write = (value: number, call: number, ret: number): Timed => {
  return { operation: { kind: 'write', value }, call, ret }
}
const read = (value: number, call: number, ret: number): Timed => {
  return { operation: { kind: 'read', value }, call, ret }
}

/** The definition itself, tried out on every order of every choice of open operations. */
function isLinearizable(operations: readonly Timed[]): boolean {
  const search = (rest: readonly Timed[], state: number): boolean => {
    if (rest.every(({ ret }) => ret === Infinity)) return true
    return rest.some((next) => {
      if (rest.some((other) => other.ret < next.call)) return false
      const after = register.step(state, next.operation)
      const others = rest.filter((other) => other !== next)
      return after !== null && search(others, after)
    })
  }
  return search(operations, register.initial)
}

describe('the search for a legal order', () => {
  it('accepts an empty history', () => {
    expect(checkLinearizable(register, [])).toEqual({ kind: 'linearizable', order: [], steps: 0 })
  })

  it('shows the order it found', () => {
    const history = [read(1, 0, 10), write(1, 5, 6), read(0, 1, 4)]
    expect(checkLinearizable(register, history)).toMatchObject({
      kind: 'linearizable',
      order: [2, 1, 0],
    })
  })

  it('refuses a read of a value that was overwritten before it was called', () => {
    const history = [write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)]
    expect(checkLinearizable(register, history)).toMatchObject({ kind: 'impossible', blocked: 2 })
  })

  it('takes operations that touch at one instant as concurrent', () => {
    expect(checkLinearizable(register, [write(1, 0, 2), read(0, 2, 3)]).kind).toBe('linearizable')
    expect(checkLinearizable(register, [write(1, 0, 2), read(0, 3, 4)]).kind).toBe('impossible')
  })

  it('lets an open operation happen late, or never', () => {
    const open = write(7, 0, Infinity)
    const history = [open, read(0, 5, 6), read(7, 10, 11)]
    expect(checkLinearizable(register, history).kind).toBe('linearizable')
    expect(checkLinearizable(register, [open, read(0, 5, 6)]).kind).toBe('linearizable')
    expect(checkLinearizable(register, [...history, read(0, 20, 21)]).kind).toBe('impossible')
  })

  it('does not let an open operation happen before its call', () => {
    const history = [read(7, 0, 1), write(7, 2, Infinity)]
    expect(checkLinearizable(register, history).kind).toBe('impossible')
  })

  it('says that it does not know when its budget ends, which is no pass', () => {
    const history = Array.from({ length: 12 }, (_, i) => write(i, 0, 100))
    const impossible = [...history, read(99, 101, 102)]
    expect(checkLinearizable(register, impossible, { stepsMax: 50 })).toEqual({
      kind: 'unknown',
      steps: 50,
    })
  })

  it('agrees with the definition on small random histories', () => {
    const seed = process.env['HOLDFAST_SEED'] ?? String(Date.now())
    const random = new Random(seed)
    const verdicts = { linearizable: 0, impossible: 0, unknown: 0 }
    for (let round = 0; round < 2_000; round++) {
      const history = Array.from({ length: random.int(1, 7) }, () => {
        const call = random.int(0, 12)
        const ret = random.chance(0.15) ? Infinity : call + random.int(0, 6)
        const make = random.chance(0.5) ? write : read
        return make(random.int(0, 2), call, ret)
      })
      const { kind } = checkLinearizable(random.pick([register, hintedRegister]), history)
      verdicts[kind]++
      const expected = isLinearizable(history) ? 'linearizable' : 'impossible'
      expect(kind, `seed ${seed}, round ${round}: ${JSON.stringify(history)}`).toBe(expected)
    }
    expect(Math.min(verdicts.linearizable, verdicts.impossible)).toBeGreaterThan(100)
  })
})

describe('partitioning', () => {
  it('groups by key and keeps the order', () => {
    const parts = partitionBy(['b1', 'a1', 'b2'], (item) => item.charAt(0))
    expect([...parts]).toEqual([
      ['b', ['b1', 'b2']],
      ['a', ['a1']],
    ])
  })
})
