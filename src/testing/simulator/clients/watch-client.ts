import type { WatchFilter } from '../../../engine/engine.ts'
import { isLockError } from '../../../engine/errors/errors.ts'
import { createLocks } from '../../../locks/create-locks.ts'
import type { Locks } from '../../../locks/locks.ts'
import { type Client, type ClientContext, sleep } from './client-context.ts'

const RETRY_MS_MAX = 300
const LOOK_MS = 1_000
const LOOKS_MAX = 20

/** Only watches, through the library, and hears of everything, or that it has not. */
export const runWatchClient: Client = async (context) => {
  const { engine, clock, random, id } = context
  const locks = createLocks(engine, { clock, owner: id, random: () => random.float() })
  while (!(await watchForAWhile(context, locks))) {
    await sleep(context, random.int(1, RETRY_MS_MAX))
  }
  await locks.close()
}

/** Whether the faults are over and everything was heard. */
async function watchForAWhile(context: ClientContext, locks: Locks): Promise<boolean> {
  const { random, workload, watches, id } = context
  const filter: WatchFilter = random.pick([
    {},
    { namespace: random.pick(['lock', 'operation']) },
    { prefix: random.pick([...workload.keys, ...workload.resources]) },
  ])
  const watch = locks.watch({ prefix: filter.prefix, kind: filter.namespace })
  try {
    await watch.ready
  } catch (error) {
    if (!isLockError(error, 'LOCK_ENGINE_UNAVAILABLE')) throw error
    return false
  }
  const check = watches.follow(id, filter)
  const closing = closeLater(context, () => check.isCaughtUp).then(async (isDone) => {
    await watch.close()
    return isDone
  })
  for await (const event of watch) check.hear(event)
  return closing
}

/** Resolves after a while, or, once the faults are over, when nothing is left to be heard. */
async function closeLater(context: ClientContext, isCaughtUp: () => boolean): Promise<boolean> {
  for (let looks = context.random.int(1, LOOKS_MAX); ; looks -= 1) {
    await sleep(context, LOOK_MS)
    if (context.isHealed()) {
      if (isCaughtUp()) return true
    } else if (looks <= 0) {
      return false
    }
  }
}
