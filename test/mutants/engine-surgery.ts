import type { LockEngine } from '../../src/engine/engine.ts'
import type { Query, ReplyOf } from '../../src/engine/queries.ts'
import type { Command } from '../../src/law/model/commands.ts'
import type { Outcome } from '../../src/law/model/outcomes.ts'

type Apply = (
  command: Command,
  options?: { signal?: AbortSignal | undefined },
) => Outcome | Promise<Outcome>
type Read = (query: Query) => Promise<ReplyOf<Query>>

/** What stands between the callers and the engine. What is not given is passed on as it is. */
export interface Distortion {
  readonly apply?: Apply
  readonly read?: Read
  readonly watch?: LockEngine['watch']
  readonly close?: () => Promise<void>
}

/** What every engine has; short cuts that it may have as well are left out, and not taken then. */
type NeededKey = {
  [K in keyof LockEngine]-?: undefined extends LockEngine[K] ? never : K
}[keyof LockEngine]

/** An engine seen through a distortion. */
export function distort(engine: LockEngine, distortion: Distortion): LockEngine {
  const close = distortion.close ?? (() => engine.close())
  const distorted = {
    capabilities: engine.capabilities,
    apply: distortion.apply ?? ((command, options) => engine.apply(command, options)),
    read: distortion.read ?? ((query) => engine.read(query)),
    watch: distortion.watch ?? ((filter, listener) => engine.watch(filter, listener)),
    close,
    [Symbol.asyncDispose]: close,
  } satisfies Record<NeededKey, unknown> & Required<Distortion>
  // The pairing of a command with its outcomes is lost on the way; nothing here relies on it.
  return distorted as unknown as LockEngine
}

/** An engine whose keys and resources are changed on their way in and shown as they were given. */
export function renaming(engine: LockEngine, rename: (name: string) => string): LockEngine {
  const renamed = <Message extends object>(message: Message): Message => {
    const named: { key?: unknown; resource?: unknown } = message
    const fields: Record<string, string> = {}
    if (typeof named.key === 'string') fields['key'] = rename(named.key)
    if (typeof named.resource === 'string') fields['resource'] = rename(named.resource)
    return { ...message, ...fields }
  }
  return distort(engine, {
    apply: (command, options) => engine.apply(renamed(command), options),
    read: async (query) => {
      const reply = await engine.read(renamed(query))
      return 'key' in reply && query.kind === 'inspect' ? { ...reply, key: query.key } : reply
    },
  })
}
