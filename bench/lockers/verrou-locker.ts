import { Verrou } from '@verrou/core'
import { memoryStore } from '@verrou/core/drivers/memory'
import type { Locker } from '../contestants/locker.ts'

export function createVerrouLocker(): Locker {
  const verrou = new Verrou({ default: 'memory', stores: { memory: { driver: memoryStore() } } })
  return {
    cycle: (key, run) => verrou.createLock(key).run(run),
    close: async () => {},
  }
}
