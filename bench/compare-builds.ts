import { BUILD_VARIABLE } from './built-package.ts'
import type { Comparison, Scenario } from './scenario.ts'

/** Nothing that is measured may become slower or larger than this by a change. */
const RATE_AT_LEAST = 0.95
const SIZE_AT_MOST = 1.05
/** CPU time of the server; only contestants that have a server of their own tell it. */
const SERVER_CPU = 'serverCpuUs'

const SUFFIX = ', before'

const nameBefore = (contestant: string): string => contestant + SUFFIX

/** Our contestants alone, each beside itself in an older build. */
export function compareBuilds(scenario: Scenario): Scenario {
  const { ours, contestants, cases, leftOut = {}, figure } = scenario
  const open = ours.flatMap((name) => {
    const one = contestants[name]
    return one === undefined
      ? []
      : [
          [name, one],
          [nameBefore(name), one],
        ]
  })
  const compare = (caseName: string, contestant: string): Comparison[] => {
    const pair = { caseName, contestant, against: nameBefore(contestant) }
    if (figure.kind === 'size') return [{ ...pair, atMost: SIZE_AT_MOST }]
    return [
      { ...pair, atLeast: RATE_AT_LEAST },
      { ...pair, count: SERVER_CPU },
    ]
  }
  return {
    ...scenario,
    contestants: Object.fromEntries(open),
    leftOut: Object.fromEntries(
      Object.entries(leftOut).map(([name, out]) => [name, [...out, ...out.map(nameBefore)]]),
    ),
    comparisons: cases.flatMap((caseName) =>
      ours
        .filter((name) => name in contestants && !leftOut[caseName]?.includes(name))
        .flatMap((name) => compare(caseName, name)),
    ),
  }
}

/** The contestant that a process measures, and the variables by which it finds the build. */
export function findBuild(
  name: string,
  before: string | undefined,
): { readonly contestant: string; readonly environment: Readonly<Record<string, string>> } {
  const isBefore = before !== undefined && name.endsWith(SUFFIX)
  return isBefore
    ? { contestant: name.slice(0, -SUFFIX.length), environment: { [BUILD_VARIABLE]: before } }
    : { contestant: name, environment: {} }
}
