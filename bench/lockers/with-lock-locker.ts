import { importHoldfast } from '../built-package.ts'
import type { Locker } from '../contestants/locker.ts'

export async function openWithLockLocker(url: string): Promise<Locker> {
  const { connect } = await importHoldfast()
  const locks = await connect(url)
  return {
    cycle: (key, run) => locks.withLock(key, run),
    close: () => locks.close(),
  }
}
