import { Agent } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OperationsRig } from './operations-rig.ts'
import type { Answer } from './plain-http.ts'

const NODES = 1_000

/** Two seconds on a machine that has nothing else to do. */
const TIMEOUT_MS = 120_000

let rig: OperationsRig
let agent: Agent

beforeEach(async () => {
  rig = await OperationsRig.open({}, { limits: { streams: 2 * NODES } })
  agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
})

afterEach(async () => {
  agent.destroy()
  await rig.close()
})

/** Every node asks at once, each on a connection of its own, and waits until it runs or skips. */
function askAll(nodes: readonly string[]): Promise<Answer>[] {
  return nodes.map(askAsNode)
}

/** A system that has too many connections to accept may reset one; a node asks again then. */
async function askAsNode(node: string): Promise<Answer> {
  const question = { type: 'pull', resource_id: 'layer', node_id: node, wait_ms: 3_600_000 }
  try {
    return await rig.post('/lock', question, { agent })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
    return rig.post('/lock', question, { agent })
  }
}

const names = Array.from({ length: NODES }, (_, index) => `node-${index}`)

async function untilWaiting(count: number): Promise<void> {
  while ((await rig.engine.read({ kind: 'stats' })).waiters !== count) {
    await rig.get('/refs?resource_id=x')
  }
}

interface Counted {
  ran: number
  skipped: number
  holder: string | undefined
}

/** Counts the answers, and calls back when somebody runs. */
async function count(
  asking: readonly Promise<Answer>[],
  onRun: (index: number, body: Record<string, unknown>) => Promise<void>,
): Promise<Counted> {
  const counted: Counted = { ran: 0, skipped: 0, holder: undefined }
  await Promise.all(
    asking.map(async (one, index) => {
      const { body } = await one
      if (body['skip'] === true) counted.skipped += 1
      if (body['acquired'] !== true) return
      counted.ran += 1
      counted.holder = names[index]
      await onRun(index, body)
    }),
  )
  return counted
}

describe('a thousand nodes that ask for one pull at once', { timeout: TIMEOUT_MS }, () => {
  it('run it once: one runs and 999 skip', async () => {
    const asking = askAll(names)
    const counted = await count(asking, async (index) => {
      await untilWaiting(NODES - 1)
      expect((await rig.unlock({ node_id: names[index] })).body).toMatchObject({ released: true })
    })
    expect(counted).toMatchObject({ ran: 1, skipped: NODES - 1 })
    const { body } = await rig.get('/refs?resource_id=layer')
    expect(body['count']).toBe(NODES)
  })

  it('run it a second time when the first is killed, and then 998 skip', async () => {
    const stream = await rig.subscribe({ session: 'first', node_id: 'node-first' })
    const first = await rig.lock({ node_id: 'node-first', session: 'first' })
    expect(first.body).toMatchObject({ acquired: true })
    const others = names.slice(1)
    const asking = askAll(others)
    await untilWaiting(NODES - 1)
    // What the server sees of a process that is killed: its connections break, and it says nothing.
    stream.close()
    const counting = count(asking, async (index) => {
      expect((await rig.unlock({ node_id: others[index] })).body).toMatchObject({ released: true })
    })
    await rig.roundTrips()
    await rig.advance(4_999)
    const held = await rig.get('/lock/status?type=pull&resource_id=layer')
    expect(held.body).toMatchObject({ holder: 'node-first' })
    await rig.advance(1)
    expect(await counting).toMatchObject({ ran: 1, skipped: NODES - 2 })
    const { body } = await rig.get('/refs?resource_id=layer')
    expect(body['count']).toBe(NODES - 1)
  })
})
