import { importEmbeddedEngine } from '../built-package.ts'
import type { Locker } from './locker.ts'

export type MemoryLockerName =
  | 'withLock'
  | 'acquire, release'
  | 'engine alone'
  | 'async-mutex'
  | 'verrou memory'

/**
 * Those who compete inside one process. Each is loaded when it is opened: a process that measures one of
 * them has none of the others in it.
 */
export const MEMORY_LOCKERS: Readonly<Record<MemoryLockerName, () => Promise<Locker>>> = {
  withLock: async () => {
    const { openWithLockLocker } = await import('../lockers/with-lock-locker.ts')
    return openWithLockLocker('memory:')
  },
  'acquire, release': async () => {
    const { openAcquireLocker } = await import('../lockers/acquire-locker.ts')
    return openAcquireLocker('memory:')
  },
  'engine alone': async () => {
    const { createEngineLocker } = await import('../lockers/engine-locker.ts')
    const { openMemoryEngine } = await importEmbeddedEngine()
    return createEngineLocker(openMemoryEngine())
  },
  'async-mutex': async () => {
    const { createAsyncMutexLocker } = await import('../lockers/async-mutex-locker.ts')
    return createAsyncMutexLocker()
  },
  'verrou memory': async () => {
    const { createVerrouLocker } = await import('../lockers/verrou-locker.ts')
    return createVerrouLocker()
  },
}
