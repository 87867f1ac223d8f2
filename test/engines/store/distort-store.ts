import type {
  CommitOptions,
  CommitResult,
  KeyChange,
  KeyName,
  KeyStore,
  LoadedKey,
} from '../../../src/engines/store/key-store.ts'

type Methods = Omit<KeyStore, 'process' | 'facts'>

/** A key store with some of its methods replaced. */
export function distortStore(store: KeyStore, methods: Partial<Methods>): KeyStore {
  return {
    process: store.process,
    facts: store.facts,
    load: (asked) => store.load(asked),
    commit: (changes, options) => store.commit(changes, options),
    due: (limit) => store.due(limit),
    list: (query) => store.list(query),
    find: (query) => store.find(query),
    listen: (on) => store.listen(on),
    watch: (on) => store.watch(on),
    count: () => store.count(),
    history: (query) => store.history(query),
    tidy: () => store.tidy(),
    close: () => store.close(),
    ...methods,
  }
}

export interface PlantedBug {
  readonly wrap: (store: KeyStore) => KeyStore
  /** Records that the bug keeps. */
  readonly size?: () => number
}

type Commit = (change: KeyChange, options: CommitOptions) => Promise<CommitResult>

/** A store whose commits of one change go through `wrong`. */
export function withCommit(
  store: KeyStore,
  wrong: (right: Commit, store: KeyStore) => Commit,
): KeyStore {
  const right: Commit = async (change, options) => {
    const { results } = await store.commit([change], options)
    return results[0] as CommitResult
  }
  const commit = wrong(right, store)
  return distortStore(store, {
    commit: async (changes, options) => {
      const results: CommitResult[] = []
      for (const change of changes) results.push(await commit(change, options))
      return { nowMs: (await store.load([])).nowMs, results }
    },
  })
}

/** A store whose loaded keys go through `wrong`. */
export function withLoaded(store: KeyStore, wrong: (key: LoadedKey) => LoadedKey): KeyStore {
  return distortStore(store, {
    load: async (asked) => {
      const { nowMs, keys } = await store.load(asked)
      return { nowMs, keys: keys.map(wrong) }
    },
  })
}

export async function loadOne(store: KeyStore, name: KeyName): Promise<LoadedKey> {
  return (await store.load([{ name }])).keys[0] as LoadedKey
}
