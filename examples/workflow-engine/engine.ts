/** One engine of several: it runs whatever is ready and not taken, until everything is done. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { openWorkflowLeases } from 'holdfast/workflow'
import { type EngineMessage, STAGES, type TableAnswer } from './plan.ts'

const LEASE_MS = 5_000
const RENEW_MS = 1_000
const WORK_MS = 200
const LOOK_AGAIN_MS = 50

const [url = '', name = ''] = process.argv.slice(2)
const leases = await openWorkflowLeases(url)
let done = new Set<string>()

/** The tables of the workflow are with the parent here; yours are in the same database as the leases. */
async function tell(message: EngineMessage): Promise<void> {
  const answered = once(process, 'message') as Promise<[TableAnswer]>
  process.send?.(message)
  const [answer] = await answered
  done = new Set(answer.done)
}

/** Work takes a while, and the lease is renewed meanwhile. Without it this process is not the one to go on. */
async function work(key: string): Promise<void> {
  const renew = async (): Promise<void> => {
    if (!(await leases.renewLock(key, name, LEASE_MS))) throw new Error(`${name} lost ${key}`)
  }
  const renewing = setInterval(() => void renew().catch(die), RENEW_MS)
  await pause(WORK_MS)
  clearInterval(renewing)
}

function die(error: Error): never {
  console.error(error.message)
  process.exit(1)
}

async function run(key: string): Promise<void> {
  if (!(await leases.acquireLock(key, name, 'node', LEASE_MS))) return
  // The token goes with everything that is written: a write of an earlier owner is refused.
  const token = (await leases.checkLock(key))?.token ?? 0
  await tell({ kind: 'begin', key, token })
  if (!done.has(key)) {
    await work(key)
    await tell({ kind: 'finish', key, token })
  }
  await leases.releaseLock(key, name)
}

for (;;) {
  const stage = STAGES.find((keys) => keys.some((key) => !done.has(key)))
  if (stage === undefined) break
  for (const key of stage) if (!done.has(key)) await run(key)
  await pause(LOOK_AGAIN_MS)
}
await leases.close()
process.disconnect()
