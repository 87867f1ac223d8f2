import type {
  HistoryEntry,
  HistoryMark,
  HistoryOp,
  HistoryRecord,
} from '../../../src/testing/history.ts'

type Fields = Partial<Omit<HistoryEntry, 'kind' | 'id' | 'op' | 'call' | 'ret'>>

/**
 * A history written by hand. Each line is one operation: who, what, from when to when. It goes well
 * unless it says otherwise; the owner is the one who asks, the key is `k`.
 */
export class Story {
  readonly records: HistoryRecord[] = []

  op(
    [op, who]: readonly [HistoryOp, string],
    [call, ret]: readonly [number, number],
    fields: Fields = {},
  ): this {
    const id = this.records.length
    const entry: HistoryEntry = {
      kind: 'op',
      id,
      op,
      proc: who,
      key: 'k',
      call,
      ret,
      outcome: ret === Infinity ? 'info' : 'ok',
      ...fields,
    }
    this.records.push(entry)
    return this
  }

  acquire(who: string, span: readonly [number, number], fields: Fields = {}): this {
    return this.op(['acquire', who], span, { mode: 'write', ...fields })
  }

  /** Refused, with this code. */
  refused(deed: readonly [HistoryOp, string], span: readonly [number, number], code: string): this {
    return this.op(deed, span, { outcome: 'fail', code })
  }

  release(who: string, span: readonly [number, number], fields: Fields = {}): this {
    return this.op(['release', who], span, fields)
  }

  check(span: readonly [number, number], fields: Fields): this {
    return this.op(['check', 'observer'], span, fields)
  }

  /** An operation on the resource `k`; who is `type:node`. */
  begin(who: string, span: readonly [number, number], fields: Fields = {}): this {
    return this.op(['begin', who], span, { ...operationOf(who), ...fields })
  }

  finish(who: string, span: readonly [number, number], fields: Fields = {}): this {
    return this.op(['finish', who], span, { ...operationOf(who), success: true, ...fields })
  }

  unref(node: string, span: readonly [number, number], fields: Fields = {}): this {
    return this.op(['unref', node], span, { node, ...fields })
  }

  mark(name: string, at: number, fields: Partial<HistoryMark> = {}): this {
    this.records.push({ kind: 'mark', name, at, key: 'k', ...fields })
    return this
  }
}

function operationOf(who: string): { type: string; node: string } {
  const [type = '', node = ''] = who.split(':')
  return { type, node }
}
