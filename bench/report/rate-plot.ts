import { type DotPanel, renderDotPlot } from './dot-plot.ts'
import type { GroupName } from '../scenario-list.ts'
import type { Summary } from './summary.ts'

/** Groups with a plot, and what is written above it. */
const HEADINGS = {
  network: 'Locks over the network, on loopback',
  sql: 'Locks on a database',
} as const

export type PlottedGroup = keyof typeof HEADINGS

export const PLOTTED_GROUPS: readonly PlottedGroup[] = Object.keys(HEADINGS) as PlottedGroup[]

const PANELS = [
  {
    scenario: 'uncontended',
    caseName: '64 workers',
    title: 'Cycles per second, 64 workers, each with keys of its own',
  },
  {
    scenario: 'hot-key',
    caseName: '32, again and again',
    title: 'Hand-offs per second, 32 workers who want the same key',
  },
]

export function hasPlot(group: GroupName): group is PlottedGroup {
  return Object.hasOwn(HEADINGS, group)
}

/** The two figures that people ask for first. */
export function renderRatePlot(group: PlottedGroup, summary: Summary): string {
  const panels = PANELS.map(({ scenario, caseName, title }): DotPanel => {
    const found = summary.scenarios.find(({ name }) => name === `${group}-${scenario}`)
    const dots = (found?.rows ?? [])
      .filter((row) => row.caseName === caseName)
      .map(({ contestant, value, valueMin, valueMax }) => ({
        name: contestant,
        value,
        low: valueMin,
        high: valueMax,
        isOurs: contestant.startsWith('Holdfast'),
      }))
    return { title, dots: dots.sort((one, other) => other.value - one.value) }
  })
  return renderDotPlot(HEADINGS[group], panels)
}
