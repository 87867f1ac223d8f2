import type { Scenario } from './scenario.ts'

/** A scenario with those contestants only whose name has one of these texts in it; all if none is given. */
export function selectContestants(scenario: Scenario, who: readonly string[]): Scenario {
  if (who.length === 0) return scenario
  const isWanted = (name: string): boolean => who.some((text) => name.includes(text))
  const contestants = Object.fromEntries(
    Object.entries(scenario.contestants).filter(([name]) => isWanted(name)),
  )
  const comparisons = scenario.comparisons.filter(
    ({ contestant, against }) =>
      isWanted(contestant) && (against === undefined || isWanted(against)),
  )
  return { ...scenario, contestants, comparisons }
}
