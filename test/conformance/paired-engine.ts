import type { Capabilities } from '../../src/engine/capabilities.ts'
import type {
  ApplyOptions,
  LockEngine,
  WatchFilter,
  Watching,
  WatchListener,
} from '../../src/engine/engine.ts'
import type { Query, ReplyOf } from '../../src/engine/queries.ts'
import type { Command } from '../../src/law/commands.ts'
import type { OutcomeOf } from '../../src/law/outcomes.ts'
import { isHeldOpen } from '../../src/engine/waits/waiting-command.ts'
import type { KeyName } from '../../src/engines/sql/sql-dialect.ts'

export interface EnginePair {
  /** Everything that is held open goes to this one. */
  readonly waiting: LockEngine
  /** What ends waits and holds goes to this one. The rest goes to either in turn. */
  readonly ending: LockEngine
}

const EITHER: ReadonlySet<Command['kind']> = new Set(['acquire', 'begin'])

/** Who was given the latest commands on a key. */
interface Stretch {
  readonly engine: LockEngine
  /** Resolves when those of the other engine have taken effect. */
  readonly begun: Promise<void>
  /** How many of these are not known to have taken effect. */
  unsettled: number
}

/**
 * Two engines on one store that are used as one, in such a way that whoever waits is always woken by the
 * other.
 *
 * Commands on one key take effect in the order in which they were given. Each engine sees to that for its
 * own; where the other one is next, it waits until what came before is in the database.
 */
export class PairedEngine implements LockEngine {
  readonly #pair: EnginePair
  readonly #stretches = new Map<string, Stretch>()
  #turns = 0
  #heldOpen = 0

  constructor(pair: EnginePair) {
    this.#pair = pair
  }

  get capabilities(): Capabilities {
    return this.#pair.ending.capabilities
  }

  /** Whether any call is held open. */
  get isWaitedIn(): boolean {
    return this.#heldOpen > 0
  }

  async apply<C extends Command>(command: C, options?: ApplyOptions): Promise<OutcomeOf<C>> {
    const engine = this.#choose(command)
    const name = nameOf(command)
    if (name === undefined) return engine.apply(command, options)
    const stretch = this.#stretch(name, engine)
    const heldOpen = isHeldOpen(command) ? 1 : 0
    stretch.unsettled += 1
    this.#heldOpen += heldOpen
    try {
      await stretch.begun
      return await engine.apply(command, options)
    } finally {
      stretch.unsettled -= 1
      this.#heldOpen -= heldOpen
    }
  }

  #choose(command: Command): LockEngine {
    // That a client is silent is for the process to conclude that it was connected to.
    const isSilence = 'reason' in command && command.reason === 'abandoned'
    if (isHeldOpen(command) || isSilence) return this.#pair.waiting
    return EITHER.has(command.kind) ? this.#next() : this.#pair.ending
  }

  #next(): LockEngine {
    this.#turns += 1
    return this.#turns % 2 === 0 ? this.#pair.waiting : this.#pair.ending
  }

  #stretch(name: KeyName, engine: LockEngine): Stretch {
    const key = `${name.space} ${name.name}`
    const before = this.#stretches.get(key)
    if (before?.engine === engine) return before
    const begun = before === undefined ? Promise.resolve() : settle(before, name)
    const stretch = { engine, begun, unsettled: 0 }
    this.#stretches.set(key, stretch)
    return stretch
  }

  read<Q extends Query>(query: Q): Promise<ReplyOf<Q>> {
    return this.#next().read(query)
  }

  watch(filter: WatchFilter, listener: WatchListener): Promise<Watching> {
    return this.#next().watch(filter, listener)
  }

  async close(): Promise<void> {
    await Promise.all([this.#pair.waiting.close(), this.#pair.ending.close()])
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** What was given to an engine on a key has taken effect when it answers to something that changes nothing. */
async function settle(
  { engine, begun, unsettled }: Stretch,
  { space, name }: KeyName,
): Promise<void> {
  if (unsettled === 0) return
  await begun
  const nobody = 'nobody at all'
  const question: Command =
    space === 'lock'
      ? { kind: 'renew', key: name, owner: nobody, ttlMs: 1_000 }
      : { kind: 'unref', node: nobody, resource: name }
  // A closed engine does nothing more.
  await Promise.resolve(engine.apply(question)).catch(() => {})
}

/** Locks and operations of one name are two. */
function nameOf(command: Command): KeyName | undefined {
  if (command.kind === 'force') return { space: command.namespace ?? 'lock', name: command.key }
  if ('key' in command) return { space: 'lock', name: command.key }
  if (!('resource' in command) || command.resource === undefined) return undefined
  return { space: 'operation', name: command.resource }
}
