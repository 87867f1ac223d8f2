import { describe, expect, it } from 'vitest'
import { Random } from '../../src/testing/random.ts'

const draws = (random: Random, count = 20): number[] =>
  Array.from({ length: count }, () => random.uint32())

describe('seeded randomness', () => {
  it('gives the same numbers for the same seed and others for another', () => {
    expect(draws(new Random(7))).toEqual(draws(new Random('7')))
    expect(draws(new Random(7))).not.toEqual(draws(new Random(8)))
  })

  it('keeps the numbers of a recorded seed', () => {
    expect(draws(new Random('holdfast'), 4)).toMatchInlineSnapshot(`
      [
        652925114,
        4145746455,
        718195913,
        2098284378,
      ]
    `)
  })

  it('forks by name alone, whatever was drawn before', () => {
    const fresh = new Random(1)
    const used = new Random(1)
    draws(used, 999)
    expect(draws(used.fork('disk'))).toEqual(draws(fresh.fork('disk')))
    expect(draws(fresh.fork('disk'))).not.toEqual(draws(fresh.fork('network')))
    expect(fresh.fork('disk').fork('torn').seed).toBe('1/disk/torn')
  })

  it('does not draw from its parent when it forks', () => {
    const one = new Random(3)
    const other = new Random(3)
    one.fork('workload').uint32()
    expect(draws(one)).toEqual(draws(other))
  })

  it('spreads integers evenly over both ends', () => {
    const random = new Random('spread')
    const counts = new Map<number, number>()
    for (let i = 0; i < 60_000; i++) {
      const value = random.int(-2, 3)
      counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    expect([...counts.keys()].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2, 3])
    for (const count of counts.values()) expect(Math.abs(count - 10_000)).toBeLessThan(500)
  })

  it('takes chances as often as they are given', () => {
    const random = new Random('chance')
    const hits = Array.from({ length: 20_000 }, () => random.chance(0.25)).filter(Boolean).length
    expect(Math.abs(hits - 5_000)).toBeLessThan(300)
    expect(random.chance(0)).toBe(false)
    expect(random.chance(1)).toBe(true)
  })

  it('picks by weight and never what weighs nothing', () => {
    const random = new Random('weights')
    const picked = Array.from({ length: 10_000 }, () =>
      random.weighted([
        ['never', 0],
        ['often', 3],
        ['seldom', 1],
      ]),
    )
    expect(picked).not.toContain('never')
    expect(Math.abs(picked.filter((item) => item === 'often').length - 7_500)).toBeLessThan(250)
  })

  it('shuffles into a new list with the same items', () => {
    const items = [1, 2, 3, 4, 5, 6, 7, 8]
    const shuffled = new Random('shuffle').shuffle(items)
    expect(shuffled).not.toEqual(items)
    expect([...shuffled].sort((a, b) => a - b)).toEqual(items)
    expect(items).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('refuses to choose where there is nothing to choose from', () => {
    const random = new Random(0)
    expect(() => random.pick([])).toThrow(RangeError)
    expect(() => random.weighted([['x', 0]])).toThrow(RangeError)
    expect(() => random.int(2, 1)).toThrow(RangeError)
    expect(() => random.int(0, 0.5)).toThrow(RangeError)
  })
})
