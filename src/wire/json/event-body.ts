import type { WatchEvent } from '../../engine/engine.ts'
import type { LawEvent } from '../../law/model/events.ts'
import { parseJsonText } from './json-value.ts'
import { snakeKeys } from './key-case.ts'

type Body = Record<string, unknown>

/** An event as JSON. Its id is that of the stream, which outlives an engine's own numbers. */
export function writeEvent(event: WatchEvent, id: string): Body {
  const { kind, atMs, id: _number, ...rest } = event
  const head = { event: kind, id, at: new Date(atMs).toISOString() }
  if (event.kind === 'reset') return head
  const { namespace, value, ...facts } = rest as Omit<LawEvent, 'kind'>
  const body = { ...head, kind: namespace, ...snakeKeys(facts) }
  return value === undefined ? body : { ...body, value: parseJsonText(value) }
}
