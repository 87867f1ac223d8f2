import type { Locker } from './locker.ts'

/** So many nodes of a fleet, who take the cycles in turn; each has its own connections. */
export async function openFleetLocker(
  nodes: number,
  connect: () => Promise<Locker>,
): Promise<Locker> {
  const all = await Promise.all(Array.from({ length: nodes }, connect))
  let cycles = 0
  return {
    cycle(key, run) {
      cycles += 1
      return (all[cycles % nodes] as Locker).cycle(key, run)
    },
    close: async () => {
      await Promise.all(all.map((locker) => locker.close()))
    },
  }
}
