import type { HistoryEntry } from '../../history.ts'
import type { Evidence } from '../evidence.ts'
import { ReferenceTimes } from './reference-times.ts'
import type { Violation } from '../violation.ts'

/**
 * The references that anybody is shown are those of the nodes with a successful or skipped pull
 * since the last delete, less those that dropped theirs: a set, never a bare count.
 */
export function checkReferences({ operations }: Evidence): Violation[] {
  return operations.flatMap((facts) => {
    const times = new ReferenceTimes(facts)
    return facts.sightings.flatMap((sighting) => {
      return describeWrong(sighting, times).map((what): Violation => {
        const message = `${facts.subject}: ${what}`
        return { property: 'references', message, entries: [sighting] }
      })
    })
  })
}

function describeWrong(sighting: HistoryEntry, times: ReferenceTimes): string[] {
  const refs = sighting.refs ?? []
  const missing = times.nodes.filter((node) => {
    return !refs.includes(node) && times.mustRefer(node, sighting)
  })
  const invented = refs.filter((node) => !times.mayRefer(node, sighting))
  const doubled = refs.filter((node, index) => refs.indexOf(node) !== index)
  return [
    ...missing.map((node) => `the reference of ${node} is missing`),
    ...invented.map((node) => `${node} is shown and has no reference`),
    ...doubled.map((node) => `${node} is shown twice`),
  ]
}
