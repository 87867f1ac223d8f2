import type { LockEngine } from 'holdfast/engine'
import type { Locker } from '../contestants/locker.ts'

/** The engine without the library in front of it. Every cycle has an owner of its own, as there. */
export function createEngineLocker(engine: LockEngine): Locker {
  let owners = 0
  return {
    async cycle(key, run) {
      owners += 1
      const owner = `worker-${owners}`
      await engine.apply({ kind: 'acquire', key, owner, requestId: '1', waitMs: Infinity })
      await run()
      await engine.apply({ kind: 'release', key, owner })
    },
    close: () => engine.close(),
  }
}
