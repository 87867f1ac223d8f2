/**
 * A plot of rates on a logarithmic scale, as an SVG that stands alone. One line for each name, a dot for
 * its median and a bar from its slowest to its fastest round. Dots and not columns: a logarithmic scale has
 * no zero for a column to stand on.
 */
import { formatRate } from './format-figures.ts'
import { LogScale } from './log-scale.ts'

export interface DotPanel {
  readonly title: string
  /** From top to bottom. */
  readonly dots: readonly Dot[]
}

export interface Dot {
  readonly name: string
  readonly value: number
  readonly low: number
  readonly high: number
  readonly isOurs: boolean
}

const WIDTH = 860
const MARGIN = 20
const HEADING = 46
const NAMES_WIDTH = 215
const VALUES_WIDTH = 70
const ROW = 24
const PANEL_HEAD = 34
const PANEL_FOOT = 40

const STYLE = `
text { font: 13px system-ui, sans-serif; fill: #333 }
.heading { font-size: 17px; font-weight: 600 }
.title { font-weight: 600 }
.tick { fill: #777; font-size: 12px; text-anchor: middle }
.name { text-anchor: end }
.ours text { font-weight: 600; fill: #0b5cad }
.grid { stroke: #ddd }
.range { stroke: #999; stroke-width: 3; stroke-linecap: round; opacity: .45 }
.dot { fill: #777 }
.ours .range { stroke: #0b5cad }
.ours .dot { fill: #0b5cad }
`

export function renderDotPlot(heading: string, panels: readonly DotPanel[]): string {
  const parts: string[] = []
  let top = HEADING
  for (const panel of panels) {
    parts.push(renderPanel(panel, top))
    top += measurePanel(panel)
  }
  const height = top + MARGIN
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${escapeText(heading)}</title>`,
    `<style>${STYLE}</style>`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    renderText({ x: MARGIN, y: 28, kind: 'heading', text: heading }),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

function measurePanel({ dots }: DotPanel): number {
  return PANEL_HEAD + dots.length * ROW + PANEL_FOOT
}

function renderPanel({ title, dots }: DotPanel, top: number): string {
  const scale = LogScale.around(
    dots.flatMap(({ low, high }) => [low, high]),
    { start: MARGIN + NAMES_WIDTH, end: WIDTH - MARGIN - VALUES_WIDTH },
  )
  const rowsTop = top + PANEL_HEAD
  const rowsEnd = rowsTop + dots.length * ROW
  const ticks = scale.ticks.map((tick) => {
    const x = scale.place(tick)
    const line = `<line class="grid" x1="${x}" x2="${x}" y1="${rowsTop}" y2="${rowsEnd}"/>`
    return line + renderText({ x, y: rowsEnd + 16, kind: 'tick', text: formatRate(tick) })
  })
  const rows = dots.map((dot, index) => renderDot(dot, scale, rowsTop + (index + 0.5) * ROW))
  const head = renderText({ x: MARGIN, y: top + 20, kind: 'title', text: title })
  return [head, ...ticks, ...rows].join('\n')
}

function renderDot(dot: Dot, scale: LogScale, y: number): string {
  const baseline = y + 4.5
  const x = scale.place(dot.value)
  const name = { x: MARGIN + NAMES_WIDTH - 12, y: baseline, kind: 'name', text: dot.name }
  const value = { x: WIDTH - MARGIN - VALUES_WIDTH + 14, y: baseline, kind: 'value' }
  return [
    `<g${dot.isOurs ? ' class="ours"' : ''}>`,
    renderText(name),
    `<line class="range" x1="${scale.place(dot.low)}" x2="${scale.place(dot.high)}" y1="${y}" y2="${y}"/>`,
    `<circle class="dot" cx="${x}" cy="${y}" r="5"/>`,
    renderText({ ...value, text: formatRate(dot.value) }),
    '</g>',
  ].join('')
}

interface PlacedText {
  readonly x: number
  readonly y: number
  readonly kind: string
  readonly text: string
}

function renderText({ x, y, kind, text }: PlacedText): string {
  return `<text class="${kind}" x="${x}" y="${y}">${escapeText(text)}</text>`
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
