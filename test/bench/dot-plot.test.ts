import { describe, expect, it } from 'vitest'
import { type Dot, renderDotPlot } from '../../bench/report/dot-plot.ts'
import { LogScale } from '../../bench/report/log-scale.ts'

const AXIS = { start: 100, end: 400 }

describe('a logarithmic scale', () => {
  it('reaches from the power of ten below all values to the one above', () => {
    const scale = LogScale.around([30, 4_000], AXIS)
    expect(scale.ticks).toEqual([10, 100, 1_000, 10_000])
    expect(scale.ticks.map((tick) => scale.place(tick))).toEqual([100, 200, 300, 400])
  })

  it('places equal ratios at equal distances', () => {
    const scale = LogScale.around([1, 1_000], AXIS)
    const [one, two, four] = [20, 40, 80].map((value) => scale.place(value)) as [
      number,
      number,
      number,
    ]
    expect(two - one).toBeCloseTo(four - two, 0)
  })

  it.each([
    ['one value', [5], [1, 10]],
    ['a power of ten', [100, 100], [100, 1_000]],
    ['nothing', [], [1, 10]],
    ['nothing above zero', [0, -1], [1, 10]],
  ])('has two ends for %s', (_, values, ticks) => {
    expect(LogScale.around(values, AXIS).ticks).toEqual(ticks)
  })

  it('places what it cannot show at the start', () => {
    const scale = LogScale.around([10, 100], AXIS)
    for (const value of [0, -5, Number.NaN]) expect(scale.place(value)).toBe(AXIS.start)
  })
})

describe('a plot', () => {
  const dot = (name: string, value: number): Dot => ({
    name,
    value,
    low: value / 2,
    high: value * 2,
    isOurs: name === 'ours',
  })
  const plot = renderDotPlot('Rates & <more>', [
    { title: 'first', dots: [dot('ours', 50_000), dot('theirs', 300)] },
    { title: 'second', dots: [dot('a < b', 7)] },
  ])

  const listNumbers = (pattern: RegExp): number[] =>
    [...plot.matchAll(pattern)].map((match) => Number(match[1]))
  const [width = 0, height = 0] = /viewBox="0 0 (\d+) (\d+)"/.exec(plot)?.slice(1).map(Number) ?? []

  it('has a dot for each value, inside its frame and below the one before', () => {
    const [xs, ys] = [listNumbers(/cx="([\d.]+)"/g), listNumbers(/cy="([\d.]+)"/g)]
    expect(xs).toHaveLength(3)
    expect(Math.min(...xs)).toBeGreaterThan(0)
    expect(Math.max(...xs)).toBeLessThan(width)
    expect(ys).toEqual(ys.toSorted((one, other) => one - other))
    expect(new Set(ys).size).toBe(3)
    expect(Math.max(...ys)).toBeLessThan(height)
    expect(xs[0]).toBeGreaterThan(xs[1] as number)
  })

  it('draws the range of each value around its dot', () => {
    const starts = listNumbers(/class="range" x1="([\d.]+)"/g)
    const ends = listNumbers(/class="range" x1="[\d.]+" x2="([\d.]+)"/g)
    for (const [index, x] of listNumbers(/cx="([\d.]+)"/g).entries()) {
      expect(starts[index]).toBeLessThan(x)
      expect(ends[index]).toBeGreaterThan(x)
    }
  })

  it('marks ours', () => {
    expect(plot.match(/class="ours"/g)).toHaveLength(1)
    expect(plot).toMatch(/<g class="ours"><text[^>]*>ours</)
  })

  it('writes names as text and nothing else', () => {
    expect(plot).toContain('Rates &amp; &lt;more&gt;')
    expect(plot).toContain('>a &lt; b<')
  })
})
