import type { HistoryEnd, HistoryEntry } from '../../../engine/queries.ts'
import type { Mode, Namespace } from '../../../law/view.ts'
import { RecordReader } from '../record-reader.ts'
import type { RecordWriter } from '../record-writer.ts'

/** Numbers in these lists are part of the format: append, never reorder. */
const NAMESPACES: readonly Namespace[] = ['lock', 'operation']
const MODES: readonly Mode[] = ['read', 'write']
const ENDS: readonly HistoryEnd[] = ['released', 'expired', 'disconnected', 'forced', 'failed']

/** The bytes of an entry, in memory as in the file. */
export function writeEntry(writer: RecordWriter, entry: HistoryEntry): void {
  writer.byte(NAMESPACES.indexOf(entry.namespace))
  writer.text(entry.key)
  writer.text(entry.owner)
  writer.byte(MODES.indexOf(entry.mode))
  writer.byte(ENDS.indexOf(entry.end))
  writer.number(entry.token)
  writer.number(Math.max(0, entry.fromMs))
  writer.number(Math.max(0, entry.toMs))
}

/** `undefined` for one that a later version may have written. */
export function readEntry(bytes: Buffer): HistoryEntry | undefined {
  const from = new RecordReader(bytes)
  const namespace = NAMESPACES[from.byte()]
  const key = from.text()
  const owner = from.text()
  const mode = MODES[from.byte()]
  const end = ENDS[from.byte()]
  if (namespace === undefined || mode === undefined || end === undefined) return undefined
  const token = from.number()
  const fromMs = from.number()
  return { namespace, key, owner, mode, token, fromMs, toMs: from.number(), end }
}

/** The namespace of an entry whose bytes begin there, without reading the rest. */
export function namespaceAt(bytes: Buffer, start: number): Namespace {
  return bytes[start] === 0 ? 'lock' : 'operation'
}
