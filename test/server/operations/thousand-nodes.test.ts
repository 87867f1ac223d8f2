import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OperationsRig } from './operations-rig.ts'
import { SeedPollingClient, type SeedResult, SeedSseClient } from './seed-clients.ts'

const NODES = 1_000
const POLL_MS = 500
const FIRST_NODE = fileURLToPath(new URL('first-node.ts', import.meta.url))

/** A few seconds on a machine that has nothing else to do. */
const TIMEOUT_MS = 300_000

/** How a node waits for its turn; all of them do what the field does, each as one of its clients. */
type Waiting = (node: string) => Promise<SeedResult>

let rig: OperationsRig
let agent: Agent
let listening: SeedSseClient[]
let first: ChildProcess | undefined

beforeEach(async () => {
  rig = await OperationsRig.open()
  agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  listening = []
})

afterEach(async () => {
  first?.kill('SIGKILL')
  for (const client of listening) client.stop()
  agent.destroy()
  await rig.close()
})

/** With its request held open. */
async function waitInRequest(node: string): Promise<SeedResult> {
  const question = { type: 'pull', resource_id: 'layer', node_id: node, wait_ms: 3_600_000 }
  const { body } = await rig.post('/lock', question, { agent })
  return {
    acquired: body['acquired'] === true,
    completed: body['skip'] === true,
    error: String(body['error']),
  }
}

/** As the field's newer client does, without saying who listens. */
function waitByListening(node: string): Promise<SeedResult> {
  const client = new SeedSseClient({ url: rig.url, node, clock: rig.clock })
  listening.push(client)
  return client.lock()
}

/** As the field's older client does. */
async function waitByPolling(node: string): Promise<SeedResult> {
  const client = new SeedPollingClient({ url: rig.url, node, clock: rig.clock })
  let result = await client.lock()
  while (result === 'waiting') {
    await new Promise<void>((resolve) => rig.clock.setTimer(POLL_MS, resolve))
    result = await client.poll()
  }
  return result
}

const WAYS: readonly Waiting[] = [
  waitInRequest,
  waitByListening,
  waitInRequest,
  waitByPolling,
  waitInRequest,
]
const LISTENING = NODES / WAYS.length

/** A system that has too many connections to accept may reset one; a node asks again then. */
async function askAsNode(node: string, wait: Waiting): Promise<SeedResult> {
  for (;;) {
    try {
      return await wait(node)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
    }
  }
}

const names = Array.from({ length: NODES }, (_, index) => `node-${index}`)

/** All of them ask at once. Whoever gets the lock does what `run` says, and unlocks. */
class Fleet {
  readonly ran: string[] = []
  skipped = 0
  readonly #all: Promise<unknown>
  #isOver = false

  constructor(run: () => Promise<void>, nodes: readonly string[]) {
    this.#all = Promise.all(nodes.map((node, index) => this.#ask(node, run, index)))
    this.#all.catch(() => {}).finally(() => (this.#isOver = true))
  }

  /** Lets time pass for those who poll. */
  async untilOver(): Promise<void> {
    while (!this.#isOver) {
      await rig.advance(POLL_MS)
      await rig.roundTrips()
    }
    await this.#all
  }

  async #ask(node: string, run: () => Promise<void>, index: number): Promise<void> {
    const wait = WAYS[index % WAYS.length] ?? waitInRequest
    const { acquired, completed, error } = await askAsNode(node, wait)
    expect(error).toBe('')
    if (completed) this.skipped += 1
    if (!acquired) return
    this.ran.push(node)
    await run()
    expect((await rig.unlock({ node_id: node })).body).toMatchObject({ released: true })
  }
}

async function untilWaiting(count: number): Promise<void> {
  while ((await rig.engine.read({ kind: 'stats' })).waiters !== count) {
    await rig.get('/refs?resource_id=x')
  }
}

/** Streams that are open, as the server counts them. */
async function untilStreams(count: number): Promise<void> {
  const line = `\nholdfast_streams ${count}\n`
  while (!(await rig.get('/metrics')).text.includes(line));
}

async function countReferences(): Promise<unknown> {
  return (await rig.get('/refs?resource_id=layer')).body['count']
}

describe('a thousand nodes that ask for one pull at once', { timeout: TIMEOUT_MS }, () => {
  it('run it once: one runs and 999 skip', async () => {
    const fleet = new Fleet(() => untilWaiting(NODES - 1), names)
    await expect.poll(() => fleet.ran).toHaveLength(1)
    await fleet.untilOver()
    expect([fleet.ran.length, fleet.skipped]).toEqual([1, NODES - 1])
    expect(await countReferences()).toBe(NODES)
  })

  it('run it a second time when the first is killed, and then 998 skip', async () => {
    first = fork(FIRST_NODE, [rig.url, 'node-first'], { execArgv: ['--import', 'tsx'] })
    expect((await once(first, 'message'))[0]).toEqual({ acquired: true })
    const fleet = new Fleet(() => Promise.resolve(), names.slice(1))
    await untilWaiting(NODES - 1)
    await untilStreams(LISTENING + 1)
    const { body } = await rig.get('/lock/status?type=pull&resource_id=layer')
    const second = (body['queue'] as { readonly node_id: string }[])[0]?.node_id
    first.kill('SIGKILL')
    await once(first, 'exit')
    await untilStreams(LISTENING)
    await rig.advance(4_999)
    const held = await rig.get('/lock/status?type=pull&resource_id=layer')
    expect(held.body).toMatchObject({ holder: 'node-first' })
    expect(fleet.ran).toEqual([])
    await rig.advance(1)
    await fleet.untilOver()
    expect([fleet.ran, fleet.skipped]).toEqual([[second], NODES - 2])
    expect(await countReferences()).toBe(NODES - 1)
  })
})
