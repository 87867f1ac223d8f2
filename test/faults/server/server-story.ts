import type { HistoryEntry, HistoryRecord } from '../../../src/testing/history.ts'
import { GIVEN_UP } from './server-load-client.ts'

/** What shows that the faults of a run struck while something was going on, and that it went on. */
export interface ServerStory {
  /** For each fault, how many calls were open that were answered later. */
  readonly openAtFaults: readonly number[]
  /** Before the first fault, between any two, and after the last: how many calls went well. */
  readonly wentWell: readonly number[]
  /** Refusals that tell a client that it was out of reach, though it had not given up itself. */
  readonly outOfReach: readonly HistoryEntry[]
}

const OUT_OF_REACH = new Set(['abandoned', 'disconnected', 'ended', 'no_session'])
/** Shorter leases may well be over by the time that a client is back. */
const LASTING_MS = 10_000

/** Reads a history with a mark `crash` at each fault and a mark `restart` at the end of each. */
export function readServerStory(history: readonly HistoryRecord[]): ServerStory {
  const entries = history.filter((record): record is HistoryEntry => {
    return record.kind === 'op' && record.op !== 'session'
  })
  const instantsOf = (name: string): number[] =>
    history.flatMap((record) => (record.kind === 'mark' && record.name === name ? record.at : []))
  const crashes = instantsOf('crash')
  const begins = [-Infinity, ...instantsOf('restart')]
  const givenUp = new Set(
    history.flatMap((record) => {
      const isMark = record.kind === 'mark' && record.detail === GIVEN_UP
      return isMark ? JSON.stringify([record.key, record.owner]) : []
    }),
  )
  const isAnswered = ({ ret }: HistoryEntry): boolean => ret < Infinity
  return {
    openAtFaults: crashes.map((at) => {
      return entries.filter((entry) => entry.call < at && entry.ret > at && isAnswered(entry))
        .length
    }),
    wentWell: begins.map((begin, index) => {
      const end = crashes[index] ?? Infinity
      const isIn = ({ call, ret }: HistoryEntry): boolean => call > begin && ret < end
      return entries.filter((entry) => entry.outcome === 'ok' && isIn(entry)).length
    }),
    outOfReach: entries.filter(({ code, key, owner, ttlMs = LASTING_MS }) => {
      const isGivenUp = givenUp.has(JSON.stringify([key, owner]))
      return OUT_OF_REACH.has(code ?? '') && ttlMs >= LASTING_MS && !isGivenUp
    }),
  }
}
