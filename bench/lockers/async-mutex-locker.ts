import { Mutex } from 'async-mutex'
import type { Locker } from '../contestants/locker.ts'

/** One mutex per key, as its users do it; they stay in the map, which is the cheapest way. */
export function createAsyncMutexLocker(): Locker {
  const mutexes = new Map<string, Mutex>()
  return {
    cycle(key, run) {
      let mutex = mutexes.get(key)
      if (mutex === undefined) {
        mutex = new Mutex()
        mutexes.set(key, mutex)
      }
      return mutex.runExclusive(run)
    },
    close: async () => mutexes.clear(),
  }
}
