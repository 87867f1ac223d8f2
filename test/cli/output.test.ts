import { describe, expect, it } from 'vitest'
import { findNearestName } from '../../src/cli/nearest-name.ts'
import { choosePaint } from '../../src/cli/output/paint.ts'
import { escapeControls } from '../../src/server/observe/escape-controls.ts'
import { showDuration, showTime } from '../../src/cli/output/show-duration.ts'
import { type Column, printTable } from '../../src/cli/output/table.ts'
import { CapturedIo, type CapturedOptions } from './captured-io.ts'

interface Row {
  readonly key: string
  readonly count: number
}

const COLUMNS: readonly Column<Row>[] = [
  { heading: 'KEY', cell: ({ key }) => key, shrinks: true },
  { heading: 'COUNT', cell: ({ count }) => String(count), align: 'right' },
]

function print(rows: readonly Row[], options?: CapturedOptions): string[] {
  const io = new CapturedIo(options)
  printTable(io, COLUMNS, rows)
  return io.lines
}

describe('a table', () => {
  const rows = [
    { key: 'a', count: 1 },
    { key: 'orders/a-rather-long-key-of-an-order', count: 1234 },
  ]

  it('is as wide as what it shows', () => {
    expect(print(rows)).toEqual([
      'KEY                                   COUNT',
      'a                                         1',
      'orders/a-rather-long-key-of-an-order   1234',
    ])
  })

  it('is cut to the terminal where it may be', () => {
    expect(print(rows, { columns: 20, env: { NO_COLOR: '1' } })).toEqual([
      'KEY            COUNT',
      'a                  1',
      'orders/a-rat…   1234',
    ])
  })

  it('keeps what says nothing when it is cut further', () => {
    const [heading] = print(rows, { columns: 3, env: { NO_COLOR: '1' } })
    expect(heading).toBe('KEY       COUNT')
  })

  it('counts characters as people do', () => {
    const shown = print([{ key: 'cafe\u0301', count: 1 }], { env: {} })
    expect(shown).toEqual(['KEY   COUNT', 'cafe\u0301      1'])
  })

  it('spells out what could play tricks on a terminal', () => {
    const [, line] = print([{ key: 'a\u001B[2Jb\n', count: 1 }])
    expect(line).toBe('a\\u001b[2Jb\\u000a      1')
    expect(escapeControls('\u202Eabc\u{E0001}')).toBe('\\u202eabc\\udb40\\udc01')
  })
})

describe('colours', () => {
  const painted = '\u001B[31mx\u001B[0m'

  it.each<[string, CapturedOptions, string]>([
    ['are off when piped', {}, 'x'],
    ['are on on a terminal', { columns: 80 }, painted],
    ['are off with NO_COLOR', { columns: 80, env: { NO_COLOR: '1' } }, 'x'],
    ['are on with an empty NO_COLOR', { columns: 80, env: { NO_COLOR: '' } }, painted],
    ['are on with FORCE_COLOR', { env: { FORCE_COLOR: '1' } }, painted],
    ['are off with FORCE_COLOR=0', { columns: 80, env: { FORCE_COLOR: '0' } }, 'x'],
    ['are off on a dumb terminal', { columns: 80, env: { TERM: 'dumb' } }, 'x'],
  ])('%s', (_title, options, expected) => {
    const io = new CapturedIo(options)
    expect(choosePaint(io, io.stdout)('x', 'red')).toBe(expected)
  })
})

describe('times for people', () => {
  it.each([
    [0, '0ms'],
    [999, '999ms'],
    [1_400, '1.4s'],
    [59_400, '59s'],
    [192_000, '3m 12s'],
    [3_600_000, '1h'],
    [3_605_000, '1h'],
    [90_061_000, '1d 1h'],
    [Number.POSITIVE_INFINITY, 'for ever'],
  ])('%d ms is %s', (ms, shown) => {
    expect(showDuration(ms)).toBe(shown)
  })

  it('an instant of another day shows its date', () => {
    const at = new Date(2026, 0, 2, 3, 4, 5).getTime()
    expect(showTime(at, at + 1_000)).toBe('03:04:05')
    expect(showTime(at, at + 86_400_000)).toBe('2026-01-02 03:04:05')
  })
})

describe('the nearest name', () => {
  it.each([
    ['sl', 'ls'],
    ['relase', 'release'],
    ['xyzzy', undefined],
    ['', undefined],
  ])('of "%s" is %s', (name, nearest) => {
    expect(findNearestName(name, ['ls', 'show', 'release'])).toBe(nearest)
  })
})
