import { type NaiveKey, type NaiveWaiter, naiveServingOrder, type Turn } from './naive-state.ts'

/** Who waits for whom, drawn as one whole graph of parties, and walked: rule 5 of acquire. */

/**
 * Every party that must give something up before the waiter can be granted. An owner's later requests
 * are decided when its first is granted: they wait for what that one waits for, and if one of them is to
 * write, the owner also waits for everybody who would read together with it.
 */
function blockersOf(key: NaiveKey, request: NaiveWaiter): string[] {
  const order = naiveServingOrder(key)
  const own = [...order.filter((other) => other.owner === request.owner), request]
  const waiter = own[0] as NaiveWaiter
  const mode = own.some((one) => one.mode === 'write') ? 'write' : waiter.mode
  const isWriter = (owner: string): boolean =>
    key.holds.some(
      (hold) => hold.owner === owner && hold.steps.some((step) => step.mode === 'write'),
    )
  const holders = key.holds.filter((hold) => mode === 'write' || isWriter(hold.owner))
  const ahead = order
    .slice(0, order.indexOf(waiter))
    .filter((other) => mode === 'write' || other.mode === 'write')
  // What a party waits for elsewhere in the queue is its parallel work, not in its own way.
  return [
    ...holders.filter((hold) => hold.owner !== waiter.owner),
    ...ahead.filter((other) => other.party !== waiter.party),
  ].map((other) => other.party)
}

function drawGraph(keys: Iterable<NaiveKey>): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const key of keys) {
    for (const waiter of key.queue) {
      const edges = graph.get(waiter.party) ?? new Set()
      for (const party of blockersOf(key, waiter)) edges.add(party)
      graph.set(waiter.party, edges)
    }
  }
  return graph
}

/** A way from the last party of the path back to the first. */
function wayBack(
  path: readonly string[],
  next: Iterable<string>,
  graph: Map<string, Set<string>>,
): readonly string[] | undefined {
  for (const party of next) {
    if (party === path[0]) return path
    if (path.includes(party)) continue
    const way = wayBack([...path, party], graph.get(party) ?? [], graph)
    if (way) return way
  }
  return undefined
}

/**
 * The cycle that the request would close by waiting, the asking party first. An owner that waits for
 * the key already closes nothing by asking again.
 */
export function findCycle(turn: Turn, request: NaiveWaiter): readonly string[] | undefined {
  const waitsAlready = turn.key.queue.some((waiter) => waiter.owner === request.owner)
  if (!turn.world.seesAllKeys || waitsAlready) return undefined
  const asked = { ...turn.key, queue: [...turn.key.queue, request] }
  const elsewhere = [...turn.world.keys]
    .filter(([address, key]) => address.startsWith('lock') && key !== turn.key)
    .map(([, key]) => key)
  return wayBack([request.party], blockersOf(asked, request), drawGraph([asked, ...elsewhere]))
}
