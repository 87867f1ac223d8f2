/**
 * You run a fleet whose nodes share storage, and all of them want the same image layer at once. One
 * downloads it; the others wait, are told that it is there, and skip. If the first one fails, the next
 * one takes over by itself.
 *
 *   node --import tsx examples/platform-team/pull-once.ts [URL of a server]
 */
import { connect, type Locks } from 'holdfast'
import { startOwnServer } from '../own-server.ts'

const NODES = 100
const LAYER = 'sha256:4f06b3f7a2'
const OTHER_LAYER = 'sha256:9b1c58e0d4'

type Outcome = 'downloaded' | 'skipped' | 'failed'

/** The storage that all nodes see: which node wrote which layer. */
const storage = new Map<string, string[]>()

async function download(layer: string, node: string, isBroken: boolean): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 50))
  if (isBroken) throw new Error('connection reset by the registry')
  storage.set(layer, [...(storage.get(layer) ?? []), node])
  return 31_415_926
}

async function pull(locks: Locks, layer: string, isBroken: () => boolean): Promise<Outcome> {
  const begun = await locks.begin('pull', layer)
  if (begun.kind !== 'acquired') return 'skipped'
  const { operation } = begun
  try {
    const sizeBytes = await download(layer, operation.node, isBroken())
    await operation.finish({ success: true, value: { sizeBytes } })
    return 'downloaded'
  } catch (error) {
    await operation.finish({ success: false, error: String(error) })
    return 'failed'
  }
}

/** All nodes want the layer at once; the networks of those who are the first to try are broken. */
async function pullEverywhere(nodes: readonly Locks[], layer: string, broken = 0): Promise<void> {
  let tries = 0
  const isBroken = (): boolean => {
    tries += 1
    return tries <= broken
  }
  const outcomes = await Promise.all(nodes.map((locks) => pull(locks, layer, isBroken)))
  const count = (wanted: Outcome): number => outcomes.filter((one) => one === wanted).length
  console.log(
    `downloaded: ${count('downloaded')}, skipped: ${count('skipped')}, failed: ${count('failed')}`,
  )
  console.log(`written to the storage: ${storage.get(layer)?.length ?? 0} times`)
}

const own = process.argv[2] === undefined ? await startOwnServer() : undefined
const url = process.argv[2] ?? own?.url ?? ''
const nodes = await Promise.all(
  Array.from({ length: NODES }, (_, index) => connect(url, { node: `node-${index + 1}` })),
)
const [observer] = nodes as [Locks]

console.log(`${NODES} nodes want ${LAYER}`)
await pullEverywhere(nodes, LAYER)

console.log(`${NODES} nodes want ${OTHER_LAYER}, and the network of the first one is broken`)
await pullEverywhere(nodes, OTHER_LAYER, 1)

console.log(`nodes that use ${LAYER} now: ${(await observer.references(LAYER)).length}`)
const deleting = await observer.begin('delete', LAYER, { wait: '1s' }).catch(String)
console.log(`deleting it: ${typeof deleting === 'string' ? 'refused, it is in use' : 'allowed'}`)

await Promise.all(nodes.map((locks) => locks.close()))
await own?.stop()
