/** An engine in a process of its own, that does what it is told until it is killed. */
import { once } from 'node:events'
import { openWorkflowLeases } from '../../src/workflow/open-workflow-leases.ts'

export type Order =
  /** Ask for each of so many locks, and say which are ours. */
  | { readonly kind: 'race'; readonly count: number }
  /** Take a lock, say so, and keep it for as long as this process lives. */
  | { readonly kind: 'hold'; readonly key: string; readonly leaseMs: number }

const [url = '', owner = ''] = process.argv.slice(2)
const leases = await openWorkflowLeases(url)
process.send?.('ready')
const [order] = (await once(process, 'message')) as [Order]
if (order.kind === 'race') {
  const answers: boolean[] = []
  for (let n = 0; n < order.count; n += 1) {
    answers.push(await leases.acquireLock(`node:race:${n}`, owner, 'node', 60_000))
  }
  process.send?.(answers)
  await leases.close()
  process.disconnect()
} else {
  const { key, leaseMs } = order
  process.send?.(await leases.acquireLock(key, owner, 'node', leaseMs))
  setInterval(() => void leases.renewLock(key, owner, leaseMs), leaseMs / 5)
}
