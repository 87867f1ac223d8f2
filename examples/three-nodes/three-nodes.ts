/**
 * Three nodes and one lock: who holds it, who waits, and who gets it next. Then three nodes that need
 * the same report, which is built once.
 *
 * The nodes live in one process here and share an engine in memory. On several machines only the URL
 * is another one.
 */
import { connect, type Locks } from 'holdfast'

const NODES = ['node-1', 'node-2', 'node-3'] as const
const KEY = 'orders/42'
const startedAtMs = performance.now()

function say(node: string, text: string): void {
  const seconds = ((performance.now() - startedAtMs) / 1000).toFixed(2)
  console.log(`${seconds.padStart(6)}s  ${node.padEnd(8)} ${text}`)
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms))
}

/** Works twice under the lock, for half a second each time. */
async function work(locks: Locks, node: string): Promise<void> {
  for (let round = 1; round <= 2; round += 1) {
    say(node, `asks for ${KEY}`)
    await locks.withLock(KEY, { ttl: '5s', wait: '1m' }, async (lock) => {
      say(node, `holds ${KEY} with token ${lock.token}`)
      await pause(500)
      say(node, 'is done')
    })
    await pause(100)
  }
}

/** The owner of a lock begins with the name of its node. */
function toNode(owner: string): string {
  return NODES.find((node) => owner.startsWith(node)) ?? owner
}

/** What an operator sees who looks at the lock every now and then. */
async function observe(locks: Locks, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(250)
    const { holders, queue } = await locks.inspect(KEY)
    if (holders.length === 0) continue
    const holding = holders.map(({ owner }) => toNode(owner)).join(', ')
    const waiting = queue.map(({ owner }) => toNode(owner)).join(', then ') || 'nobody'
    say('', `  held by ${holding}; waiting: ${waiting}`)
  }
}

async function buildReport(locks: Locks, node: string): Promise<void> {
  const { ran, value } = await locks.once('report/today', async () => {
    say(node, 'builds the report')
    await pause(500)
    return { rows: 1234, builtBy: node }
  })
  say(node, `${ran ? 'built it' : `got it from ${value.builtBy}`}: ${value.rows} rows`)
}

const nodes = await Promise.all(
  NODES.map(async (node) => ({ node, locks: await connect('memory:demo', { owner: node }) })),
)
const operator = await connect('memory:demo', { owner: 'operator' })

console.log('Three nodes take turns with one lock.\n')
const done = new AbortController()
const observing = observe(operator, done.signal)
await Promise.all(nodes.map(({ node, locks }) => work(locks, node)))
done.abort()
await observing

console.log('\nThree nodes need the same report. One builds it, the others wait for it.\n')
await Promise.all(nodes.map(({ node, locks }) => buildReport(locks, node)))

await Promise.all([...nodes.map(({ locks }) => locks.close()), operator.close()])
console.log('\nEveryone has had a turn.')
