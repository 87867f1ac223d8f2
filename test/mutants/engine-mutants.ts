import { createError } from '../../src/engine/errors/errors.ts'
import type { LockEngine } from '../../src/engine/engine.ts'
import type { InspectReply } from '../../src/engine/queries.ts'
import type { Command } from '../../src/law/model/commands.ts'
import type { Outcome } from '../../src/law/model/outcomes.ts'
import type { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { distort, renaming } from './engine-surgery.ts'
import { engineMutant, type Mutant } from './mutant.ts'

/** Right about the law, wrong about clocks, names, answers and what is shown. */
export const ENGINE_MUTANTS: readonly Mutant[] = [
  engineMutant(
    {
      name: 'timer-frees-the-next-holder',
      fault: 'the timer of the first holder frees the lock of the second (cozy-data-system 159)',
      killedBy: 'expiry: the lease of a holder that left does not end the next hold',
    },
    freeByTimer,
  ),
  engineMutant(
    {
      name: 'time-out-leaves-a-ghost',
      fault: 'a wait that timed out is still in the queue and is granted later (Jepsen, etcd)',
      killedBy:
        'cancel and time-out: a wait that reaches its deadline is refused and gives up its place',
    },
    forgetWaits,
  ),
  engineMutant(
    {
      name: 'abort-leaves-a-ghost',
      fault: 'the caller is told that its wait was aborted, and the lock is granted to nobody',
      killedBy: 'cancel and time-out: an aborted wait gives up its place for good',
    },
    (engine) =>
      distort(engine, {
        apply: (command, options) =>
          Promise.race([engine.apply(command), rejectOnAbort(options?.signal)]),
      }),
  ),
  engineMutant(
    {
      name: 'abort-ignored-when-early',
      fault: 'a signal that was aborted before the call is not looked at',
      killedBy: 'cancel and time-out: a signal that is aborted already changes nothing',
    },
    (engine) =>
      distort(engine, {
        apply: (command, options) =>
          engine.apply(command, options?.signal?.aborted === true ? {} : options),
      }),
  ),
  engineMutant(
    {
      name: 'keys-folded',
      fault: 'a collation that does not tell capitals from small letters decides what a key is',
      killedBy: 'names: every key is a lock of its own',
    },
    (engine) => renaming(engine, (name) => name.toLowerCase()),
  ),
  engineMutant(
    {
      name: 'keys-trimmed',
      fault: 'a column that pads with blanks makes a key and the same key with a blank one',
      killedBy: 'names: every key is a lock of its own',
    },
    (engine) => renaming(engine, (name) => name.trimEnd() || name),
  ),
  engineMutant(
    {
      name: 'keys-normalised',
      fault: 'two spellings of the same accent are one key',
      killedBy: 'names: every key is a lock of its own',
    },
    (engine) => renaming(engine, (name) => name.normalize('NFC')),
  ),
  engineMutant(
    {
      name: 'keys-cut',
      fault: 'a column cuts long keys',
      killedBy: 'names: names of full length are kept whole',
    },
    (engine) => renaming(engine, (name) => name.slice(0, 200)),
  ),
  engineMutant(
    {
      name: 'keys-as-paths',
      fault: 'keys become file names, and dots and slashes are resolved',
      killedBy: 'names: every key is a lock of its own',
    },
    (engine) => renaming(engine, (name) => new URL(encodeURI(name), 'file:///').pathname),
  ),
  engineMutant(
    {
      name: 'one-namespace',
      fault: 'a lock and an operation of the same name are kept under the same key',
      killedBy: 'names: a lock and an operation of the same name are strangers',
    },
    (engine) =>
      distort(engine, {
        apply: async (command, options) => {
          if (command.kind !== 'begin') return engine.apply(command, options)
          const { holders } = await engine.read({ kind: 'inspect', key: command.resource })
          if (holders.length === 0) return engine.apply(command, options)
          return { kind: 'queued', position: 1 }
        },
      }),
  ),
  engineMutant(
    {
      name: 'references-as-a-number',
      fault: 'references are counted, and a node that pulls twice counts twice',
      killedBy: 'references: a node counts once',
    },
    countReferences,
  ),
  engineMutant(
    {
      name: 'stale-read',
      fault: 'a read is answered from a copy that is one change behind (early etcd and Consul)',
      killedBy: 'reads: a read sees every answered command',
    },
    readLate,
  ),
  engineMutant(
    {
      name: 'reading-takes',
      fault: 'looking at a key makes an entry for it that stays',
      killedBy: 'no residue: asking and reading in vain leaves nothing',
    },
    countKeys,
  ),
  engineMutant(
    {
      name: 'list-in-javascript-order',
      fault: 'the list is in the order of UTF-16 units, and pages of another engine do not fit',
      killedBy: 'reads: a list is in the order of bytes',
    },
    (engine) =>
      distort(engine, {
        read: async (query) => {
          const reply = await engine.read(query)
          if (!('locks' in reply)) return reply
          const order = (one: InspectReply, other: InspectReply): number =>
            one.key < other.key ? -1 : 1
          return { ...reply, locks: reply.locks.toSorted(order) }
        },
      }),
  ),
  engineMutant(
    {
      name: 'page-repeats',
      fault: 'the next page starts with the last entry of the page before',
      killedBy: 'reads: a list comes in pages without gaps and repetitions',
    },
    repeatPages,
  ),
  engineMutant(
    {
      name: 'prefix-as-pattern',
      fault: 'a prefix is handed to LIKE, and its per cent signs match anything',
      killedBy: 'reads: a prefix is compared byte by byte',
    },
    (engine) =>
      distort(engine, {
        read: async (query) => {
          if (query.kind !== 'list' || query.prefix === undefined) return engine.read(query)
          const { prefix, ...rest } = query
          const pattern = new RegExp(`^${prefix.replaceAll('%', '.*').replaceAll('_', '.')}`, 'u')
          const reply = await engine.read(rest)
          return { ...reply, locks: reply.locks.filter(({ key }) => pattern.test(key)) }
        },
      }),
  ),
  engineMutant(
    {
      name: 'events-lost',
      fault: 'a slow stream drops what it cannot send (etcd 17529)',
      killedBy: 'watch: event ids grow',
    },
    (engine) =>
      distort(engine, {
        watch: (filter, listener) => {
          let told = 0
          return engine.watch(filter, (event) => {
            told += 1
            if (told % 5 > 0) listener(event)
          })
        },
      }),
  ),
  engineMutant(
    {
      name: 'events-out-of-order',
      fault: 'events overtake each other on their way (etcd 15271)',
      killedBy: 'watch: grants, waits and releases are told in order',
    },
    swapEvents,
  ),
  engineMutant(
    {
      name: 'watch-filter-by-text',
      fault: 'a watcher of team1 hears of team10',
      killedBy: 'watch: a watcher hears only of what it asked for',
    },
    (engine) =>
      distort(engine, {
        watch: ({ prefix, ...filter }, listener) =>
          engine.watch(
            { ...filter, ...(prefix === undefined ? {} : { prefix: prefix.replace(/\/$/, '') }) },
            listener,
          ),
      }),
  ),
  engineMutant(
    {
      name: 'bad-input-repaired',
      fault: 'a time to live that is no number is taken for the nearest that is',
      killedBy: 'limits and bad input: a malformed command is an error that changes nothing',
    },
    (engine) =>
      distort(engine, {
        apply: (command, options) => engine.apply(repair(command), options),
      }),
  ),
  engineMutant(
    {
      name: 'close-hangs-waiters',
      fault: 'who waits when the engine stops is never answered',
      killedBy: 'restart: a closed engine refuses everything and can be closed again',
    },
    (engine) =>
      distort(engine, {
        apply: (command, options) =>
          Promise.resolve(engine.apply(command, options)).catch((error: unknown) => {
            const isWaiting = 'waitMs' in command && (command.waitMs ?? 0) > 0
            if (isWaiting) return new Promise<never>(() => {})
            throw error
          }),
      }),
  ),
  engineMutant(
    {
      name: 'sweep-takes-all',
      fault: 'the clean-up takes what has not expired',
      killedBy: 'expiry: a sweep removes what has expired and leaves the rest',
    },
    (engine) =>
      distort(engine, {
        apply: async (command, options) => {
          if (command.kind === 'sweep') await forceAll(engine)
          return engine.apply(command, options)
        },
      }),
  ),
]

function freeByTimer(engine: LockEngine, clock: VirtualClock): LockEngine {
  return distort(engine, {
    apply: async (command, options) => {
      const outcome: Outcome = await engine.apply(command, options)
      if (command.kind === 'acquire' && outcome.kind === 'granted') {
        const { key, ttlMs = 30_000 } = command
        clock.setTimer(ttlMs, () => {
          Promise.resolve(engine.apply({ kind: 'force', key })).catch(() => {})
        })
      }
      return outcome
    },
  })
}

function forgetWaits(engine: LockEngine, clock: VirtualClock): LockEngine {
  return distort(engine, {
    apply: (command, options) => {
      const { waitMs = 0 } = command.kind === 'acquire' ? command : {}
      if (command.kind !== 'acquire' || waitMs === 0 || waitMs === Infinity) {
        return engine.apply(command, options)
      }
      const answer = engine.apply({ ...command, waitMs: Infinity }, options)
      const wait: Promise<Outcome> = Promise.resolve(answer)
      wait.catch(() => {})
      const deadline = new Promise<Outcome>((resolve) => {
        clock.setTimer(waitMs, () => resolve({ kind: 'refused', code: 'timeout' }))
      })
      return Promise.race([wait, deadline])
    },
  })
}

function rejectOnAbort(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => {
      reject(createError('LOCK_ABORTED', 'the wait was aborted'))
    })
  })
}

function countReferences(engine: LockEngine): LockEngine {
  const pulls = new Map<string, string[]>()
  return distort(engine, {
    apply: async (command, options) => {
      const outcome: Outcome = await engine.apply(command, options)
      const isPull = 'type' in command && command.type === 'pull'
      const isDone = outcome.kind === 'skip' || outcome.kind === 'finished'
      if (isPull && isDone && 'resource' in command) {
        pulls.set(command.resource, [...(pulls.get(command.resource) ?? []), command.node])
      }
      return outcome
    },
    read: async (query) => {
      if (query.kind !== 'references') return engine.read(query)
      return { resource: query.resource, nodes: pulls.get(query.resource) ?? [], unclaimed: [] }
    },
  })
}

function readLate(engine: LockEngine): LockEngine {
  const seen = new Map<string, InspectReply>()
  return distort(engine, {
    read: async (query) => {
      const reply = await engine.read(query)
      if (!('holders' in reply)) return reply
      const before = seen.get(reply.key)
      seen.set(reply.key, reply)
      return before ?? reply
    },
  })
}

function countKeys(engine: LockEngine): LockEngine {
  const keys = new Set<string>()
  return distort(engine, {
    read: async (query) => {
      const reply = await engine.read(query)
      if (query.kind === 'inspect') keys.add(query.key)
      return 'keys' in reply ? { ...reply, keys: Math.max(reply.keys, keys.size) } : reply
    },
  })
}

function repeatPages(engine: LockEngine): LockEngine {
  let last: InspectReply | undefined
  return distort(engine, {
    read: async (query) => {
      const reply = await engine.read(query)
      if (query.kind !== 'list' || !('locks' in reply)) return reply
      const repeated = query.cursor === undefined || last === undefined ? [] : [last]
      last = reply.locks.at(-1)
      return { ...reply, locks: [...repeated, ...reply.locks].slice(0, query.limit) }
    },
  })
}

function swapEvents(engine: LockEngine): LockEngine {
  return distort(engine, {
    watch: (filter, listener) => {
      let delayed: (() => void) | undefined
      return engine.watch(filter, (event) => {
        const tell = (): void => listener(event)
        if (event.kind === 'released') {
          delayed = tell
          return
        }
        tell()
        delayed?.()
        delayed = undefined
      })
    },
  })
}

function repair(command: Command): Command {
  if (command.kind !== 'acquire' && command.kind !== 'renew') return command
  const ttlMs = Math.round(Number(command.ttlMs ?? 30_000))
  return { ...command, ttlMs: Number.isFinite(ttlMs) ? Math.max(ttlMs, 100) : 30_000 }
}

async function forceAll(engine: LockEngine): Promise<void> {
  const { locks } = await engine.read({ kind: 'list' })
  for (const { key, namespace } of locks) await engine.apply({ kind: 'force', key, namespace })
}
