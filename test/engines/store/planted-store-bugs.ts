import type { KeyName, KeyStore, LoadedKey } from '../../../src/engines/store/key-store.ts'
import { COMMIT_WINDOW_MS, TURN_MS_MAX } from '../../../src/engines/store/store-limits.ts'
import { distortStore, loadOne, type PlantedBug, withCommit, withLoaded } from './distort-store.ts'
import {
  hideWhatIsDueNow,
  keepEvents,
  keepLabels,
  leakTurns,
  letCountsDrift,
  reuseVersions,
  tellTooEarly,
} from './remembering-bugs.ts'

/** A store that is wrong in one way, and the test of the suite that finds it. */
export interface PlantedStoreBug {
  readonly name: string
  /** `suite: title`. */
  readonly foundBy: string
  /** Called once for each store that is opened: what it returns stands before every connection. */
  readonly plant: () => PlantedBug
}

const compareUnits = (one: string, other: string): number =>
  one < other ? -1 : one > other ? 1 : 0

function beStateless(wrap: (store: KeyStore) => KeyStore): () => PlantedBug {
  return () => ({ wrap })
}

export const PLANTED_STORE_BUGS: readonly PlantedStoreBug[] = [
  {
    name: 'a version comes again after a removal',
    foundBy: 'commits: a key never has the same version twice, not even after it was removed',
    plant: reuseVersions,
  },
  {
    name: 'the version is compared before the write and not with it',
    foundBy:
      'random commits: no commit is lost or half applied when processes write over each other',
    plant: beStateless((store) =>
      withCommit(store, (right) => async (change, options) => {
        const { version } = await loadOne(store, change.name)
        await Promise.resolve()
        if (version !== change.expected) return right(change, options)
        const { version: expected } = await loadOne(store, change.name)
        return right({ ...change, expected }, options)
      }),
    ),
  },
  {
    name: 'a refused change has written its parts already',
    foundBy: 'commits: a write over another version changes nothing and shows the present key',
    plant: beStateless((store) =>
      withCommit(store, (right) => async (write, options) => {
        const result = await right(write, options)
        if (result.kind !== 'conflict' || write.kind !== 'write') return result
        const { name, version, head } = result.key
        const { puts } = write
        const late = { kind: 'write', name, expected: version, puts } as const
        if (head !== null) await right({ ...late, head }, options)
        return result
      }),
    ),
  },
  {
    name: 'a conflict comes without the present state',
    foundBy: 'commits: a write over another version changes nothing and shows the present key',
    plant: beStateless((store) =>
      withCommit(store, (right) => async (change, options) => {
        const result = await right(change, options)
        if (result.kind !== 'conflict') return result
        return { ...result, key: { ...result.key, head: null, parts: [] } }
      }),
    ),
  },
  {
    name: 'a check writes the head that it has found',
    foundBy: 'commits: a check commits at its version, and changes nothing',
    plant: beStateless((store) =>
      withCommit(store, (right) => async (check, options) => {
        const { head } = await loadOne(store, check.name)
        if (check.kind !== 'check' || head === null) return right(check, options)
        return right({ ...check, kind: 'write', head }, options)
      }),
    ),
  },
  {
    name: 'a write replaces all parts',
    foundBy: 'commits: a write leaves as it was what it does not name',
    plant: beStateless((store) =>
      withCommit(store, (right) => async (write, options) => {
        if (write.kind !== 'write') return right(write, options)
        const { parts } = await loadOne(store, write.name)
        const { puts = [] } = write
        const isPut = (id: string): boolean => puts.some((put) => put.id === id)
        return right({ ...write, removes: parts.filter(({ id }) => !isPut(id)) }, options)
      }),
    ),
  },
  {
    name: 'one refused change refuses the whole commit',
    foundBy: 'commits: one refused change does not hold up the rest',
    plant: beStateless((store) =>
      distortStore(store, {
        commit: async (changes, options) => {
          const names = changes.map(({ name }) => ({ name }))
          const { keys, nowMs } = await store.load(names)
          const isGood = keys.every(({ version }, index) => version === changes[index]?.expected)
          if (isGood || changes.length === 1) return store.commit(changes, options)
          return { nowMs, results: keys.map((key) => ({ kind: 'conflict', key, moved: [] })) }
        },
      }),
    ),
  },
  {
    name: 'other keys are not compared',
    foundBy: 'commits: a change is refused when another key that it was made from has changed',
    plant: beStateless((store) =>
      withCommit(
        store,
        (right) => (change, options) => right({ ...change, unchanged: [] }, options),
      ),
    ),
  },
  {
    name: 'names that differ in case are taken for the same',
    foundBy: 'commits: names, ids and texts are kept to the byte',
    plant: beStateless((store) => {
      const fold = <T extends { readonly name: KeyName }>(one: T): T => ({
        ...one,
        name: { ...one.name, name: one.name.name.toLowerCase() },
      })
      return distortStore(store, {
        load: (asked) => store.load(asked.map(fold)),
        commit: (changes, options) => store.commit(changes.map(fold), options),
      })
    }),
  },
  {
    name: 'parts are in the order of code units',
    foundBy: 'loads: parts come by group and id, in the order of their bytes',
    plant: beStateless((store) =>
      withLoaded(store, (key) => ({
        ...key,
        parts: key.parts.toSorted(
          (one, other) => compareUnits(one.group, other.group) || compareUnits(one.id, other.id),
        ),
      })),
    ),
  },
  {
    name: 'a key that was known is not noticed to be gone',
    foundBy: 'loads: a key that is gone is not taken for one that is known',
    plant: beStateless((store) =>
      distortStore(store, {
        load: async (asked) => {
          const { nowMs, keys } = await store.load(asked)
          const stale = keys.map((key, index): LoadedKey => {
            const version = asked[index]?.known ?? ''
            return key.version === '' && version !== '' ? { ...key, version, whole: false } : key
          })
          return { nowMs, keys: stale }
        },
      }),
    ),
  },
  {
    name: 'a large key claims to be whole',
    foundBy: 'loads: a key with as many parts as may be comes whole, a larger one as wanted',
    plant: beStateless((store) => withLoaded(store, (key) => ({ ...key, whole: true }))),
  },
  {
    name: 'a refusal forgets what the change wants',
    foundBy: 'loads: a refusal on a large key brings what its change wants',
    plant: beStateless((store) =>
      withCommit(store, (right) => (change, options) => right({ ...change, wants: [] }, options)),
    ),
  },
  {
    name: 'a turn is never given',
    foundBy: 'turns: a turn keeps other processes from writing until its own has written',
    plant: beStateless((store) =>
      withCommit(
        store,
        (right) =>
          (change, { atMs }) =>
            right(change, { atMs }),
      ),
    ),
  },
  {
    name: 'a turn goes on when its process has written',
    foundBy: 'turns: a turn keeps other processes from writing until its own has written',
    plant: () => leakTurns(TURN_MS_MAX),
  },
  {
    name: 'a turn never runs out',
    foundBy: 'turns: a turn that is not used is over',
    plant: () => leakTurns(Infinity),
  },
  {
    name: 'the clock window ends a millisecond late',
    foundBy: 'times: a change is committed in its window only, to the millisecond',
    plant: beStateless((store) =>
      withCommit(store, (right) => async (change, options) => {
        const { nowMs } = await store.load([])
        const isJustOver = nowMs === options.atMs + COMMIT_WINDOW_MS
        return right(change, isJustOver ? { ...options, atMs: nowMs } : options)
      }),
    ),
  },
  {
    name: 'the clock window begins a millisecond early',
    foundBy: 'times: a change is committed in its window only, to the millisecond',
    plant: beStateless((store) =>
      withCommit(store, (right) => async (change, options) => {
        const { nowMs } = await store.load([])
        const isJustAhead = nowMs === options.atMs - 1
        return right(change, isJustAhead ? { ...options, atMs: nowMs } : options)
      }),
    ),
  },
  {
    name: 'a key is due a millisecond late',
    foundBy: 'times: a key is due in the very millisecond',
    plant: hideWhatIsDueNow,
  },
  {
    name: 'the next due moment leaves out keys that are due already',
    foundBy: 'times: the soonest keys are due first, and the next moment counts those left out',
    plant: beStateless((store) =>
      distortStore(store, {
        due: async (limit) => {
          const { nextAtMs } = await store.due(1_000)
          return { ...(await store.due(limit)), nextAtMs }
        },
      }),
    ),
  },
  {
    name: 'a list skips a name between two pages',
    foundBy: 'lists: names are listed by space and prefix, in the order of their bytes',
    plant: beStateless((store) =>
      distortStore(store, {
        list: async (query) => {
          if (query.after === undefined) return store.list(query)
          return (await store.list({ ...query, limit: query.limit + 1 })).slice(1)
        },
      }),
    ),
  },
  {
    name: 'a prefix is read as a pattern',
    foundBy: 'lists: names are listed by space and prefix, in the order of their bytes',
    plant: beStateless((store) =>
      distortStore(store, {
        list: async (query) => {
          if (!query.prefix.includes('_')) return store.list(query)
          const pattern = new RegExp(`^${query.prefix.replaceAll('_', '.')}`, 'u')
          const all = await store.list({ ...query, prefix: '', limit: 1_000 })
          return all.filter((name) => pattern.test(name)).slice(0, query.limit)
        },
      }),
    ),
  },
  {
    name: 'a removal leaves the labels',
    foundBy: 'commits: a removal takes everything of the key with it',
    plant: keepLabels,
  },
  {
    name: 'counts drift with every removal',
    foundBy: 'lists: counts are the sums over the keys that are present',
    plant: letCountsDrift,
  },
  {
    name: 'a notice comes before its commit',
    foundBy: 'notices: what a notice tells can be loaded',
    plant: tellTooEarly,
  },
  {
    name: 'a loss is taken for a conflict',
    foundBy: 'losses: every process that was connected is told once of a loss',
    plant: beStateless((store) =>
      withCommit(store, (right) => async (change, options) => {
        const result = await right(change, options)
        return result.kind === 'lost' ? right(change, options) : result
      }),
    ),
  },
  {
    name: 'a new watcher is told what was before it',
    foundBy: 'notices: a watcher is told every later event of any process, each key in order',
    plant: () => keepEvents({ isTold: true }),
  },
  {
    name: 'events without a watcher are kept for ever',
    foundBy: 'traces: removed keys, events and turns leave no records',
    plant: () => keepEvents({ isTold: false }),
  },
  {
    name: 'history goes with its key',
    foundBy: 'traces: history is kept by key, the latest first, and outlives its key',
    plant: beStateless((store) =>
      distortStore(store, {
        history: async (query) => {
          if (query.name === undefined || query.space === undefined) return store.history(query)
          const { version } = await loadOne(store, { space: query.space, name: query.name })
          return version === '' ? [] : store.history(query)
        },
      }),
    ),
  },
]
