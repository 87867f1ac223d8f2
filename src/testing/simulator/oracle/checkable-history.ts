import type { HistoryEntry, HistoryRecord } from '../../history.ts'
import { NOT_APPLIED } from '../recorded-engine.ts'
import { CROWDED_KEY } from '../simulation-plan.ts'

/**
 * A recorded history in the form that the checks expect, where one entry is one thing that happened:
 *
 * - What was certainly not applied did not happen, nor did what a session lost and a crash took back;
 *   and the crowded key is nobody's.
 * - A `finish` that was sent again under its id took effect once, at the latest when it was first
 *   answered: one entry, from the first call to the first answer.
 * - A `release` without an id of its own that was refused may be the second copy of one that was not.
 * - A node that begins again what it already has is told of what it has, whatever the request id: that
 *   renews what it has.
 */
export function toCheckableHistory(
  history: readonly HistoryRecord[],
  isForgotten: (index: number) => boolean,
): HistoryRecord[] {
  const applied = history.filter((record) => {
    if (record.kind === 'op') return record.code !== NOT_APPLIED && record.key !== CROWDED_KEY
    const isOfSession = record.name === 'disconnect' || record.name === 'silence'
    return !isOfSession || !isForgotten(Number(record.detail))
  })
  return toRenewals(mergeFinishes(applied.map(toUnsure)))
}

function toUnsure(record: HistoryRecord): HistoryRecord {
  if (record.kind !== 'op' || record.op !== 'release') return record
  const mayBeCopy = record.reqId === undefined && record.code === 'not_holder'
  return mayBeCopy ? { ...record, outcome: 'info', ret: Infinity } : record
}

function mergeFinishes(history: readonly HistoryRecord[]): HistoryRecord[] {
  const merged = new Map<string, HistoryEntry>()
  for (const record of history) {
    if (record.kind !== 'op' || record.op !== 'finish') continue
    const name = finishName(record)
    const first = merged.get(name)
    if (first === undefined) merged.set(name, record)
    else if (record.ret < first.ret) {
      const { id, call } = first
      merged.set(name, { ...record, id, call })
    }
  }
  const kept = new Map(Array.from(merged.values(), (entry) => [entry.id, entry]))
  return history.flatMap((record) => {
    if (record.kind !== 'op' || record.op !== 'finish') return [record]
    return kept.get(record.id) ?? []
  })
}

function finishName({ id, key, type, node, reqId }: HistoryEntry): string {
  return JSON.stringify(reqId === undefined ? [id] : [key, type, node, reqId])
}

function toRenewals(history: readonly HistoryRecord[]): HistoryRecord[] {
  const known = new Set<string>()
  return history.map((record) => {
    if (record.kind !== 'op' || record.op !== 'begin' || record.answer !== 'granted') return record
    const { key, type, node, token, answer: _, ...rest } = record
    const name = JSON.stringify([key, type, node, token])
    if (known.has(name)) {
      return { ...rest, op: 'renew', space: 'operation', key, token, owner: `${type}:${node}` }
    }
    known.add(name)
    return record
  })
}
