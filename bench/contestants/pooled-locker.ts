import type { Locker } from './locker.ts'

/** A connection for each who holds or waits, as if each were a node of its own; they are kept. */
export function createPooledLocker(connect: () => Promise<Locker>): Locker {
  const all: Locker[] = []
  const idle: Locker[] = []
  const add = async (): Promise<Locker> => {
    const locker = await connect()
    all.push(locker)
    return locker
  }
  return {
    async cycle(key, run) {
      const own = idle.pop() ?? (await add())
      await own.cycle(key, run)
      idle.push(own)
    },
    close: async () => {
      await Promise.all(all.map((locker) => locker.close()))
    },
  }
}
