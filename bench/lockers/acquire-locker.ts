import { importHoldfast } from '../built-package.ts'
import type { Locker } from '../contestants/locker.ts'

export async function openAcquireLocker(url: string): Promise<Locker> {
  const { connect } = await importHoldfast()
  const locks = await connect(url)
  return {
    async cycle(key, run) {
      const lock = await locks.acquire(key)
      await run()
      await lock.release()
    },
    close: () => locks.close(),
  }
}
