import type { LockEngine, WatchEvent } from '../../engine/engine.ts'
import type { HolderReply } from '../../engine/queries.ts'
import type { Namespace } from '../../law/model/view.ts'
import type { KnownNames } from './principal-view.ts'

/** How many holds each principal has, for the limit. A principal without a name is everybody. */
export interface HoldCounts {
  /** What was held before the server started might be anybody's. */
  open(): Promise<void>
  hear(event: WatchEvent): void
  /** Whether there is surely room for another hold beside those that have been asked for. */
  hasRoom(name: string | undefined, limit: number): boolean
  /** Counts what is held, unless that was done lately: there may be more room than was thought. */
  recount(name: string | undefined): Promise<void>
  /** Takes up room until it is answered. */
  ask(name: string | undefined): void
  answered(name: string | undefined): void
}

export interface HoldCountsOptions {
  readonly engine: LockEngine
  /** The principals; absent where auth is off and everything is nobody's in particular. */
  readonly names: KnownNames | undefined
  readonly nowMs: () => number
}

/** Counting anew may take a twentieth of the time, however many holds there are. */
export const REST_FACTOR = 20
const PAGE = 1_000

export interface ListedHold {
  readonly namespace: Namespace
  readonly key: string
  readonly holder: HolderReply
}

/** Every hold of a principal, page by page; of everybody without a name. */
export async function* listHolds(
  engine: LockEngine,
  name: string | undefined,
): AsyncGenerator<ListedHold, void, undefined> {
  let cursor: string | undefined
  do {
    const page = await engine.read({ kind: 'list', limit: PAGE, cursor })
    for (const { namespace, key, holders } of page.locks) {
      const theirs =
        name === undefined
          ? holders
          : holders.filter(({ owner, node }) => principalOf(node ?? owner) === name)
      for (const holder of theirs) yield { namespace, key, holder }
    }
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
}

/** Whose it is by its stored name; empty for nobody. */
export function principalOf(stored: string): string {
  return stored.slice(0, Math.max(0, stored.indexOf('/')))
}
