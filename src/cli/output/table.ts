import { escapeControls } from '../../server/observe/escape-controls.ts'
import type { CliIo } from '../cli-io.ts'
import { choosePaint, type Colour, type Paint } from './paint.ts'

/** One column: its heading, and what it shows of a row. */
export interface Column<Row> {
  readonly heading: string
  readonly cell: (row: Row) => string
  readonly align?: 'right'
  /** May be cut when the terminal is narrow; the others never are. */
  readonly shrinks?: boolean
  readonly colour?: (row: Row) => Colour | undefined
}

const segmenter = new Intl.Segmenter()
const GAP = '  '
/** A column that is cut to less than this says nothing any more. */
const WIDTH_MIN = 8

/** A table for people, as wide as their terminal; whole where there is none. */
export function printTable<Row>(
  io: CliIo,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const paint = choosePaint(io, io.stdout)
  const cells = rows.map((row) => columns.map(({ cell }) => escapeControls(cell(row))))
  const widths = fitWidths(columns, cells, io.stdout.columns ?? Number.POSITIVE_INFINITY)
  const lineOf = (texts: readonly string[], paintCell: (text: string, index: number) => string) =>
    texts
      .map((text, index) => paintCell(pad(text, widths[index] ?? 0, columns[index]), index))
      .join(GAP)
      .trimEnd()
  const headings = columns.map(({ heading }) => heading)
  io.stdout.write(`${lineOf(headings, (text) => paint(text, 'dim'))}\n`)
  for (const [index, texts] of cells.entries()) {
    const row = rows[index] as Row
    const line = lineOf(texts, (text, at) => paintCell(paint, text, columns[at]?.colour?.(row)))
    io.stdout.write(`${line}\n`)
  }
}

function paintCell(paint: Paint, text: string, colour: Colour | undefined): string {
  return colour === undefined ? text : paint(text, colour)
}

function fitWidths<Row>(
  columns: readonly Column<Row>[],
  cells: readonly (readonly string[])[],
  widthMax: number,
): number[] {
  const widths = columns.map(({ heading }, index) =>
    Math.max(heading.length, ...cells.map((texts) => countCharacters(texts[index] ?? ''))),
  )
  let tooMuch = sum(widths) + GAP.length * (columns.length - 1) - widthMax
  while (tooMuch > 0) {
    const widest = findWidest(columns, widths)
    if (widest === undefined) break
    widths[widest] = (widths[widest] ?? 0) - 1
    tooMuch -= 1
  }
  return widths
}

/** The widest of the columns that can still be cut. */
function findWidest<Row>(
  columns: readonly Column<Row>[],
  widths: readonly number[],
): number | undefined {
  let found: number | undefined
  for (const [index, width] of widths.entries()) {
    if (columns[index]?.shrinks !== true || width <= WIDTH_MIN) continue
    if (found === undefined || width > (widths[found] ?? 0)) found = index
  }
  return found
}

function pad<Row>(text: string, width: number, column: Column<Row> | undefined): string {
  const characters = toCharacters(text)
  const cut = characters.length > width ? `${characters.slice(0, width - 1).join('')}…` : text
  const padding = ' '.repeat(Math.max(0, width - countCharacters(cut)))
  return column?.align === 'right' ? padding + cut : cut + padding
}

/** As people count them: an accent belongs to its letter. */
function toCharacters(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

function countCharacters(text: string): number {
  return toCharacters(text).length
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
