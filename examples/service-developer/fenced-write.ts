/**
 * You write a service of several processes, and one of them at a time may change an order.
 *
 * `withLock` guards the critical section. The fencing token guards the data: a holder that was paused
 * for longer than its lease, and does not know it yet, is refused by the database and not by luck.
 *
 *   node --import tsx examples/service-developer/fenced-write.ts [URL of a server]
 */
import { connect, isLockError, type Locks } from 'holdfast'
import { startOwnServer } from '../own-server.ts'

const KEY = 'orders/42'

/** The table of the database, with one more column: the highest token that ever wrote to it. */
const row = { total: 0, fence: 0 }

/** `UPDATE orders SET total = $1, fence = $2 WHERE id = 42 AND fence <= $2` */
function updateTotal(total: number, fence: number): boolean {
  if (fence < row.fence) return false
  row.total = total
  row.fence = fence
  return true
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

/** Read, think, write: without the lock, additions would get lost. */
async function addToOrder(locks: Locks, amount: number): Promise<void> {
  await locks.withLock(KEY, { ttl: '10s', wait: '30s' }, async (lock) => {
    const { total } = row
    await pause(5)
    if (!updateTotal(total + amount, lock.token)) throw new Error('fenced off')
  })
}

/** Its lease runs out while it thinks, and nobody tells it. */
async function addTooLate(locks: Locks, think: () => Promise<void>): Promise<string> {
  try {
    await locks.withLock(KEY, { ttl: '1s', renew: false }, async (lock) => {
      const { total } = row
      await think()
      const written = updateTotal(total + 1_000_000, lock.token)
      console.log(`the slow process wakes up and writes: ${written ? 'accepted' : 'refused'}`)
    })
    return 'did not notice'
  } catch (error) {
    return isLockError(error) ? error.code : String(error)
  }
}

const own = process.argv[2] === undefined ? await startOwnServer() : undefined
const url = process.argv[2] ?? own?.url ?? ''
const services = await Promise.all(
  ['orders-1', 'orders-2', 'orders-3'].map((owner) => connect(url, { owner })),
)

await Promise.all(services.flatMap((locks) => [1, 2, 3, 4].map((n) => addToOrder(locks, n))))
console.log(`twelve additions by three processes: total ${row.total}`)

const [slow, other] = services as [Locks, Locks]
let [begin, goOn] = [(): void => {}, (): void => {}]
const hasBegun = new Promise<void>((resolve) => (begin = resolve))
const isLate = new Promise<void>((resolve) => (goOn = resolve))
const slowly = addTooLate(slow, () => {
  begin()
  return isLate
})
await hasBegun
await addToOrder(other, 100)
console.log(`another process had its turn meanwhile: total ${row.total}`)
goOn()
console.log(`the slow process is told: ${await slowly}`)
console.log(`total ${row.total}`)

await Promise.all(services.map((locks) => locks.close()))
await own?.stop()
