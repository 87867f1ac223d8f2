import type { Draft } from './draft.ts'
import { CYCLE_SEARCH_STEPS_MAX } from './model/limits.ts'
import type { Hold, KeyView, WaitGraph, Waiter } from './model/view.ts'

/**
 * Doomed waits.
 *
 * A waiter waits for all holders of its key: either they stand in its way themselves, or
 * a waiter ahead of it in the queue waits for them. A waiter ahead matters beyond that only if its
 * party waits on another key too; all others ahead lead to the same holders. So the search visits
 * holders and such entangled waiters, and a queue of ten thousand costs it no more than one of ten.
 */
type Wait = Pick<Waiter, 'owner' | 'party' | 'mode' | 'lane'>

interface Meeting {
  readonly ahead: Waiter
  readonly wait: Wait
}

interface Scene {
  readonly draft: Draft
  readonly graph: WaitGraph
  readonly asking: string
  /** Whether the asking request would stand before every other waiter for the key. */
  readonly isUpgrade: boolean
}

/** The parties of the cycle that this wait would close, the asking one first. */
export function findCycle(
  draft: Draft,
  wait: Wait,
  isUpgrade: boolean,
): readonly string[] | undefined {
  const { graph } = draft.view
  if (graph === undefined || isOutOfReach(draft, graph, wait)) return undefined
  // An owner that waits here already is decided anew as a whole when its first request is granted.
  if (draft.waitersOf(wait.owner).length > 0) return undefined
  const scene: Scene = { draft, graph, asking: wait.party, isUpgrade }
  const ahead = entangled(scene, draft.view).filter(
    (other) =>
      (other.upgrade || (!isUpgrade && other.lane <= wait.lane)) &&
      isInTheWay(scene, draft.view, { ahead: other, wait }),
  )
  const holds = isForRoom(scene, draft.view, wait) ? [] : draft.holds()
  return search(scene, blockers(wait, holds, ahead))
}

/**
 * The usual case, told without a search: no party waits twice, and no holder waits for anything or is
 * the asking party itself, so no way leads back.
 */
function isOutOfReach(draft: Draft, graph: WaitGraph, wait: Wait): boolean {
  if (graph.isEntangled(draft.view) || graph.isWaiting(wait.party)) return false
  const { writer } = draft
  const holds = writer === undefined ? draft.holds() : [writer]
  for (const { owner, party } of holds) {
    if (owner !== wait.owner && (party === wait.party || graph.isWaiting(party))) return false
  }
  return true
}

/**
 * Depth first from the asking party, looking for the way back to it. Bounded: a graph that is larger
 * than the bound is left to the wait's deadline.
 */
function search(scene: Scene, first: Iterable<string>): readonly string[] | undefined {
  const seen = new Set<string>()
  const path: { readonly party: string; readonly next: Iterator<string> }[] = [
    { party: scene.asking, next: first[Symbol.iterator]() },
  ]
  for (let steps = 0; path.length > 0 && steps < CYCLE_SEARCH_STEPS_MAX; steps += 1) {
    const { done, value } = path.at(-1)?.next.next() ?? { done: true, value: undefined }
    if (done || value === undefined) {
      path.pop()
    } else if (value === scene.asking) {
      return path.map(({ party }) => party)
    } else if (!seen.has(value)) {
      seen.add(value)
      path.push({ party: value, next: blockersOfParty(scene, value)[Symbol.iterator]() })
    }
  }
  return undefined
}

function* blockersOfParty(scene: Scene, party: string): Iterable<string> {
  for (const { view, waiter: before } of scene.graph.waitsOf(party)) {
    const key = seen(scene, view)
    const waiter = key.waiter(before.owner, before.requestId)
    if (waiter === undefined) continue
    const all = key.waitersOf(waiter.owner)
    if (all[0]?.requestId !== waiter.requestId) continue
    // Later requests of an owner wait for what its first one waits for, and for more if they write.
    const mode = all.some((one) => one.mode === 'write') ? 'write' : waiter.mode
    const isBlocked = !isForRoom(scene, view, { ...waiter, mode })
    const place = key.position(waiter)
    const ahead = entangled(scene, view).filter(
      (other) =>
        key.position(other) < place &&
        isInTheWay(scene, view, { ahead: other, wait: { ...waiter, mode } }),
    )
    yield* blockers(waiter, isBlocked ? key.holds() : [], ahead)
  }
}

/** The waiters on a key whose party waits on another key as well, or would if the asking one waits. */
function entangled(scene: Scene, view: KeyView): readonly Waiter[] {
  const waiters = [...scene.graph.entangled(view)]
  for (const wait of scene.graph.waitsOf(scene.asking)) {
    if (wait.view.key === view.key) waiters.push(wait.waiter)
  }
  const key = seen(scene, view)
  if (key === view) return waiters
  return waiters.flatMap(({ owner, requestId }) => key.waiter(owner, requestId) ?? [])
}

/** The key that is asked for as the decision leaves it, every other key as it is. */
function seen({ draft }: Scene, view: KeyView): Draft | KeyView {
  return view.key === draft.view.key ? draft : view
}

/** A party's own waiters never block it: they are its parallel work, not its way forward. */
function* blockers(wait: Wait, holds: Iterable<Hold>, ahead: Iterable<Waiter>): Iterable<string> {
  for (const hold of holds) if (hold.owner !== wait.owner) yield hold.party
  for (const waiter of ahead) if (waiter.party !== wait.party) yield waiter.party
}

/**
 * A key is full of readers, and no writer stands before the waiting reader: it waits for any one of the
 * holders to leave and for none in particular. That is not doomed.
 */
function isForRoom(scene: Scene, view: KeyView, wait: Wait): boolean {
  const key = seen(scene, view)
  if (key === scene.draft && scene.isUpgrade) return false
  const { holdCount, writer, upgraders } = key
  if (holdCount < view.settings.holdersPerKeyMax) return false
  if (wait.mode === 'write' || writer !== undefined || upgraders.length > 0) return false
  for (let lane = 0; lane <= wait.lane; lane += 1) {
    for (let one = view.head(lane); one !== undefined; one = view.next(one)) {
      if (one.owner === wait.owner) break
      if (one.mode === 'write' && key.waiter(one.owner, one.requestId) !== undefined) return false
    }
  }
  return true
}

/**
 * Readers that stand together are granted together, unless a writer stands between them. A writer that
 * already waits further ahead, to read, is none: it writes as soon as it reads, before any of these.
 */
function isInTheWay(scene: Scene, view: KeyView, { ahead, wait }: Meeting): boolean {
  if (wait.mode === 'write' || ahead.mode === 'write' || wait.lane !== ahead.lane) return true
  const key = seen(scene, view)
  const place = key.position(ahead)
  for (let next = view.next(ahead); next !== undefined; next = view.next(next)) {
    if (next.owner === wait.owner) return false
    if (next.mode !== 'write' || key.waiter(next.owner, next.requestId) === undefined) continue
    const [first = next] = key.waitersOf(next.owner)
    if (key.position(first) > place) return true
  }
  return false
}
