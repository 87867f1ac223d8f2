import { nameOfWait, type WaitingCommand } from '../../engine/waits/waiting-command.ts'
import type { Refused } from '../../law/model/outcomes.ts'
import type { Clock } from '../../time/clock.ts'
import { RecentMap } from '../recent-map.ts'

/** As long as the law remembers the refusal itself. */
const KEPT_MS = 60_000
const KEPT_MAX = 10_000
/** A refusal that names more nodes says only why when it is repeated. */
const NODES_KEPT_MAX = 256

/**
 * What a refusal says beyond its code: the holders, the cycle, the nodes. The law remembers only that a
 * request was refused and why; a client that asks again because it did not hear the answer is told all of it.
 */
export class RefusalDetails {
  readonly #recent: RecentMap<Refused>

  constructor(clock: Clock) {
    this.#recent = new RecentMap({ clock, keptMs: KEPT_MS, keptMax: KEPT_MAX })
  }

  /** The refusal of a principal's request, with what an earlier answer to the same request said. */
  complete(principal: string | undefined, command: WaitingCommand, refused: Refused): Refused {
    const name = `${nameOfWait(command)}\n${command.requestId}`
    if (hasDetails(refused)) {
      const isShort = (refused.nodes?.length ?? 0) <= NODES_KEPT_MAX
      if (isShort) this.#recent.set(principal, name, refused)
      return refused
    }
    const earlier = this.#recent.get(principal, name)
    return earlier?.code === refused.code ? earlier : refused
  }
}

function hasDetails({ holders, cycle, nodes, detail }: Refused): boolean {
  return (holders ?? cycle ?? nodes ?? detail) !== undefined
}
