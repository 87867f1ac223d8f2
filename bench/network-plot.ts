import { type DotPanel, renderDotPlot } from './dot-plot.ts'
import type { Summary } from './summary.ts'

const PANELS = [
  {
    scenario: 'network-uncontended',
    caseName: '64 workers',
    title: 'Cycles per second, 64 workers, each with keys of its own',
  },
  {
    scenario: 'network-hot-key',
    caseName: '32, again and again',
    title: 'Hand-offs per second, 32 workers who want the same key',
  },
]

/** The two figures that people ask for first. */
export function renderNetworkPlot(summary: Summary): string {
  const panels = PANELS.map(({ scenario, caseName, title }): DotPanel => {
    const rows = summary.scenarios.find(({ name }) => name === scenario)?.rows ?? []
    const dots = rows
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
  return renderDotPlot('Locks over the network, on loopback', panels)
}
