import { VALUE_BYTES_MAX } from '../../engine/validation/limits.ts'
import { type BeginTerms, HeldOperation } from './held-operation.ts'
import { fromJsonText, toJsonText } from './json-text.ts'
import type { LocksContext } from '../locks-context.ts'
import type { OnceContext, OnceOutcome } from './operation-handle.ts'

/** The operation that stands behind `once`. Locks and other operations of the same name are others. */
const ONCE_TYPE = 'once'

/** Long enough to recognise an error by; the whole of it goes to who ran the function. */
const ERROR_CHARS_MAX = 500

export type OnceTerms = Pick<BeginTerms, 'version' | 'ttlMs' | 'waitMs' | 'signal'>

export interface OnceWork<Value> {
  readonly key: string
  readonly terms: OnceTerms
  readonly run: (context: OnceContext) => Value | Promise<Value>
}

export async function runOnce<Value>(
  context: LocksContext,
  work: OnceWork<Value>,
): Promise<OnceOutcome<Value>> {
  const { key, terms } = work
  const operation = new HeldOperation(context, {
    ...terms,
    type: ONCE_TYPE,
    resource: key,
    // Every call is a node of its own: two calls in one process are as far apart as two processes.
    node: context.nextOwner(),
    renew: true,
    lane: undefined,
    coordination: 'server',
    meta: undefined,
  })
  const begun = await operation.ask()
  if (begun.kind === 'acquired') {
    return { ran: true, value: (await runHeld(operation, work)) as Value }
  }
  return { ran: false, value: (begun.kind === 'skipped' ? begun.value : undefined) as Value }
}

/** The value as the others will get it. */
async function runHeld<Value>(operation: HeldOperation, work: OnceWork<Value>): Promise<unknown> {
  const { key } = work
  let text: string | undefined
  try {
    const value = await work.run({
      key,
      token: operation.token,
      get signal() {
        return operation.signal
      },
    })
    text = toJsonText(value, { what: `the value of once("${key}")`, bytesMax: VALUE_BYTES_MAX })
  } catch (error) {
    // Its own error is what matters; if the engine cannot be told, the lease ends by itself.
    await operation.finish({ success: false, error: show(error) }).catch(() => undefined)
    throw error
  }
  const value = fromJsonText(text)
  await operation.finish({ success: true, value })
  return value
}

function show(error: unknown): string {
  return String(error).slice(0, ERROR_CHARS_MAX)
}
