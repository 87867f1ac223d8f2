import type { LockEngine } from '../../src/engine/engine.ts'
import { decide, type Law } from '../../src/law/decide.ts'
import type { Granted, Outcome } from '../../src/law/model/outcomes.ts'
import type {
  OpenSimulatedEngine,
  SimulatedEngineOptions,
} from '../../src/testing/simulator/open-simulated-engine.ts'
import { openWithLaw } from './open-embedded.ts'
import { WRONG_LAWS } from './wrong-laws.ts'

/** A wrong engine, and by which property the simulator is expected to notice. */
export interface PlantedBug {
  readonly name: string
  readonly open: OpenSimulatedEngine
  readonly property: RegExp
}

/** A disk that says it has synced, and has not. */
function lyingDisk({ disk }: SimulatedEngineOptions): SimulatedEngineOptions['disk'] {
  type File = Awaited<ReturnType<typeof disk.create>>
  const lazy = (file: File): File => {
    const read: File['read'] = (into, position) => file.read(into, position)
    const write: File['write'] = (bytes, position) => file.write(bytes, position)
    return {
      ...{ read, write },
      size: () => file.size(),
      sync: async () => {},
      truncate: (size) => file.truncate(size),
      close: () => file.close(),
    }
  }
  return {
    list: () => disk.list(),
    create: async (name) => lazy(await disk.create(name, 'buffered')),
    open: async (name) => lazy(await disk.open(name, 'buffered')),
    rename: (from, to) => disk.rename(from, to),
    remove: (name) => disk.remove(name),
    syncDirectory: () => disk.syncDirectory(),
  }
}

/** An engine with some of its methods replaced. */
function withMethods(engine: LockEngine, methods: Partial<LockEngine>): LockEngine {
  return {
    capabilities: engine.capabilities,
    apply: methods.apply ?? ((command, options) => engine.apply(command, options)),
    read: (query) => engine.read(query),
    watch: methods.watch ?? ((filter, listener) => engine.watch(filter, listener)),
    close: () => engine.close(),
    [Symbol.asyncDispose]: () => engine.close(),
  }
}

/** Answers as soon as the decision is made; its record is still on the way to the disk. */
const openHasty: OpenSimulatedEngine = async (options) => {
  let last: Outcome | undefined
  const law: Law = (view, command, nowMs) => {
    const decision = decide(view, command, nowMs)
    last = decision.outcome
    return decision
  }
  const engine = await openWithLaw(law)(options)
  const apply: LockEngine['apply'] = (command, applyOptions) => {
    last = undefined
    const answer = engine.apply(command, applyOptions)
    const hasty = last as Granted | undefined
    if (hasty?.kind !== 'granted') return answer
    Promise.resolve(answer).catch(() => undefined)
    return Promise.resolve(hasty) as typeof answer
  }
  return withMethods(engine, { apply })
}

/** Tells its watchers everything except that leases have passed. */
const openForgetful: OpenSimulatedEngine = async (options) => {
  const engine = await openWithLaw(decide)(options)
  return withMethods(engine, {
    watch: (filter, listener) =>
      engine.watch(filter, (event) => {
        if (event.kind !== 'expired') listener(event)
      }),
  })
}

/** Tells one watcher everything, and everybody after it in an order of its own. */
const openUnfair: OpenSimulatedEngine = async (options) => {
  const engine = await openWithLaw(decide)(options)
  let watchers = 0
  return withMethods(engine, {
    watch: (filter, listener) => {
      watchers += 1
      if (watchers === 1) return engine.watch(filter, listener)
      const held: Parameters<typeof listener>[0][] = []
      return engine.watch(filter, (event) => {
        held.unshift(event)
        if (held.length > 1) for (const one of held.splice(0)) listener(one)
      })
    },
  })
}

export const PLANTED_BUGS: readonly PlantedBug[] = [
  ...WRONG_LAWS.map(([name, law, property]) => ({ name, open: openWithLaw(law), property })),
  {
    name: 'the disk says that it has synced, and has not',
    open: openWithLaw(decide, (options) => ({ ...options, disk: lyingDisk(options) })),
    property: /S16/,
  },
  { name: 'the answer does not wait for the disk', open: openHasty, property: /S16/ },
  { name: 'watchers are not told of everything', open: openForgetful, property: /S19/ },
  {
    name: 'watchers behind the first are told in another order',
    open: openUnfair,
    property: /S19/,
  },
]
