import type { HistoryReply } from '../../src/engine/queries.ts'
import { distort } from './engine-surgery.ts'
import { engineMutant, type Mutant } from './mutant.ts'

/** Wrong about what has been. */
export const HISTORY_MUTANTS: readonly Mutant[] = [
  engineMutant(
    {
      name: 'history-oldest-first',
      fault: 'the history shows the oldest ends, and never what has just happened',
      killedBy: 'history: it shows as many as it is asked for, the newest',
    },
    (engine) =>
      distort(engine, {
        read: async (query) => {
          const reply = await engine.read(query)
          if (query.kind !== 'history') return reply
          return { ends: (reply as HistoryReply).ends.toReversed() }
        },
      }),
  ),
  engineMutant(
    {
      name: 'history-of-all-keys',
      fault: 'whoever asks about one key is shown what happened to all',
      killedBy: 'history: it can be asked about one key or one kind',
    },
    (engine) =>
      distort(engine, {
        read: (query) => {
          if (query.kind !== 'history') return engine.read(query)
          const { key: _, ...rest } = query
          return engine.read(rest)
        },
      }),
  ),
]
