import type { RawClient } from '../sessions/raw-client.ts'

/** How long a client that acquires and releases one lock has waited at most while something else went on. */
export async function probeDuring(probe: RawClient, run: () => Promise<void>): Promise<number> {
  let isOver = false
  let longestMs = 0
  const probing = (async () => {
    for (let id = 0; !isOver; id = (id + 1) % 1_000) {
      const startedMs = performance.now()
      probe.heard.length = 0
      probe.ask(id, { kind: 'acquire', key: 'probe', owner: 'probe', requestId: `${startedMs}` })
      await probe.answer(id)
      probe.ask(id, { kind: 'release', key: 'probe', owner: 'probe' })
      longestMs = Math.max(longestMs, performance.now() - startedMs)
    }
  })()
  try {
    await run()
  } finally {
    isOver = true
    await Promise.allSettled([probing])
  }
  await probing
  return longestMs
}
