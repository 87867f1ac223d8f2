import type { KeyName, KeyStore, Notice } from '../../../src/engines/store/key-store.ts'
import { distortStore, loadOne, type PlantedBug, withCommit } from './distort-store.ts'

/** Bugs of a store that remembers what it must not, or does not remember what it must. */

const textOf = ({ space, name }: KeyName): string => `${space} ${name}`

export function reuseVersions(): PlantedBug {
  /** How many writes into the life of its key each version was made. */
  const ages = new Map<string, number>()
  const wrap = (store: KeyStore): KeyStore =>
    withCommit(store, (right) => async (change, options) => {
      const { version } = await loadOne(store, change.name)
      const isSameAge = ages.get(change.expected) === ages.get(version)
      const expected = isSameAge && version !== '' ? version : change.expected
      const result = await right({ ...change, expected }, options)
      if (result.kind === 'committed' && change.kind === 'write') {
        ages.set(result.version, (ages.get(version) ?? 0) + 1)
      }
      return result
    })
  return { wrap }
}

/** Turns that are kept besides, and are left by nothing but time. */
export function leakTurns(lastsMs: number): PlantedBug {
  const turns = new Map<string, { readonly process: string; readonly untilMs: number }>()
  const wrap = (store: KeyStore): KeyStore =>
    withCommit(store, (right) => async (change, options) => {
      const { nowMs } = await store.load([])
      const turn = turns.get(textOf(change.name))
      const isOthers = turn !== undefined && turn.process !== store.process && turn.untilMs > nowMs
      if (isOthers && change.kind !== 'check') {
        return { kind: 'other-turn', key: await loadOne(store, change.name) }
      }
      const result = await right(change, options)
      if (result.kind === 'conflict' && options.turn === true && result.key.version !== '') {
        turns.set(textOf(change.name), { process: store.process, untilMs: nowMs + lastsMs })
      }
      return result
    })
  return { wrap }
}

export function hideWhatIsDueNow(): PlantedBug {
  const moments = new Map<string, number | null | undefined>()
  const wrap = (store: KeyStore): KeyStore => {
    const noting = withCommit(store, (right) => async (change, options) => {
      if (change.kind === 'write') moments.set(textOf(change.name), change.dueAtMs)
      return right(change, options)
    })
    return distortStore(noting, {
      due: async (limit) => {
        const due = await store.due(limit)
        const names = due.names.filter((name) => moments.get(textOf(name)) !== due.nowMs)
        return { ...due, names }
      },
    })
  }
  return { wrap }
}

/** Labels of a removed key are back when it is made again. */
export function keepLabels(): PlantedBug {
  const labels = new Map<string, Map<string, boolean>>()
  const wrap = (store: KeyStore): KeyStore =>
    withCommit(store, (right) => async (change, options) => {
      if (change.kind !== 'write') return right(change, options)
      const known = labels.get(textOf(change.name)) ?? new Map<string, boolean>()
      const all = new Map([...known, ...(change.labels ?? [])])
      const result = await right({ ...change, labels: all }, options)
      if (result.kind === 'committed') labels.set(textOf(change.name), all)
      return result
    })
  return { wrap }
}

export function letCountsDrift(): PlantedBug {
  let holds = 0
  const wrap = (store: KeyStore): KeyStore => {
    const noting = withCommit(store, (right) => async (change, options) => {
      const before = await store.count()
      const result = await right(change, options)
      if (change.kind === 'remove') holds += before.holds - (await store.count()).holds
      return result
    })
    return distortStore(noting, {
      count: async () => {
        const counts = await store.count()
        return { ...counts, holds: counts.holds + holds }
      },
    })
  }
  return { wrap }
}

export function tellTooEarly(): PlantedBug {
  const listeners = new Map<string, (notice: Notice | undefined) => void>()
  const wrap = (store: KeyStore): KeyStore => {
    const hasty = withCommit(store, (right) => async (change, options) => {
      const told = change.kind === 'check' ? [] : (change.notify ?? [])
      const head = change.kind === 'write' ? change.head : null
      const notice = { name: change.name, version: 'soon', head }
      for (const process of told) listeners.get(process)?.(notice)
      await Promise.resolve()
      return right(change, options)
    })
    return distortStore(hasty, {
      listen: async (on) => {
        listeners.set(store.process, on)
      },
    })
  }
  return { wrap }
}

/** Events are written down, and told to the next watcher. */
export function keepEvents({ isTold }: { readonly isTold: boolean }): PlantedBug {
  const kept: string[] = []
  const wrap = (store: KeyStore): KeyStore => {
    const keeping = withCommit(store, (right) => async (change, options) => {
      const result = await right(change, options)
      if (result.kind === 'committed') kept.push(...(change.events ?? []))
      return result
    })
    return distortStore(keeping, {
      watch: async (on) => {
        if (isTold && kept.length > 0) on(kept)
        return store.watch(on)
      },
    })
  }
  return { wrap, size: () => (isTold ? 0 : kept.length) }
}
