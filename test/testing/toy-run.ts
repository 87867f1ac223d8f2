import type { History, HistoryCall } from '../../src/testing/history.ts'
import type { PendingCall } from '../../src/testing/history-recorder.ts'
import { HistoryRecorder } from '../../src/testing/history-recorder.ts'
import { Random } from '../../src/testing/random.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import type { LockBug, Mode, ToyGrant } from './toy-lock.ts'
import { ToyLock } from './toy-lock.ts'
import type { ResourceBug } from './toy-resource.ts'
import { ToyResource } from './toy-resource.ts'

const CLIENTS = 5
const ROUNDS = 14
const PATIENCE_MS = 400
const LOST = 0.04

/** Several clients with random delays and lost messages on one toy lock, all decided by the seed. */
export async function recordLockRun(seed: string, bug: LockBug | null): Promise<History> {
  const run = new Run(seed)
  const lock = new ToyLock(run.clock, bug)
  await run.play((client) => playLock(run, lock, client))
  return run.recorder.history()
}

/** The same on one toy resource. */
export async function recordResourceRun(seed: string, bug: ResourceBug | null): Promise<History> {
  const run = new Run(seed)
  const resource = new ToyResource(run.clock, bug)
  await run.play((client) => playResource(run, resource, client))
  return run.recorder.history()
}

class Run {
  readonly clock: VirtualClock = new VirtualClock()
  readonly recorder: HistoryRecorder = new HistoryRecorder(this.clock)
  readonly #random: Random
  readonly #network: Random

  constructor(seed: string) {
    this.#random = new Random(seed)
    this.#network = this.#random.fork('network')
  }

  async play(client: (client: Client) => Promise<void>): Promise<void> {
    const clients = Array.from({ length: CLIENTS }, async (_, index) => {
      const name = `c${index}`
      await client({ name, random: this.#random.fork(name) })
    })
    let isOver = false
    void Promise.all(clients).then(() => {
      isOver = true
    })
    while (!isOver) await this.clock.advance(50)
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.clock.setTimer(ms, resolve)
    })
  }

  /** A message to the client beside its answer, which is never lost. */
  async tell(message: () => void): Promise<void> {
    await this.sleep(this.#network.int(1, 12))
    message()
  }

  /**
   * Sends a request over a network that delays and loses, and tells what is known when the client
   * stops waiting: an answer, or nothing.
   */
  async send<Answer>(work: () => Promise<Answer> | Answer): Promise<Answer | null> {
    const loses = (): boolean => this.#network.chance(LOST)
    const travel = (): Promise<void> => this.sleep(this.#network.int(1, 12))
    const isRequestLost = loses()
    const isAnswerLost = loses()
    const exchange = async (): Promise<Answer | null> => {
      await travel()
      if (isRequestLost) return new Promise(() => {})
      const answer = await work()
      await travel()
      return isAnswerLost ? new Promise(() => {}) : answer
    }
    return Promise.race([exchange(), this.sleep(PATIENCE_MS).then(() => null)])
  }
}

interface Client {
  readonly name: string
  readonly random: Random
}

async function playLock(run: Run, lock: ToyLock, { name, random }: Client): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    await run.sleep(random.int(0, 30))
    if (random.chance(0.15)) await seeLock(run, lock, name)
    const owner = random.chance(0.5) ? name : `${name}-${round}`
    const mode = random.pick<Mode>(['read', 'write'])
    const held: Mode[] = []
    const steps = random.weighted([
      [[mode], 5] as const,
      [[mode, mode], 1] as const,
      [['read', 'write'], 2] as const,
    ])
    for (const [step, wanted] of (steps as readonly Mode[]).entries()) {
      const reqId = `${name}-${round}-${step}`
      if (await acquire(run, lock, { proc: name, owner, reqId, mode: wanted, random })) {
        held.push(wanted)
      }
    }
    await run.sleep(random.int(0, 60))
    if (random.chance(0.2)) await renew(run, lock, { proc: name, owner })
    if (random.chance(0.1)) await run.sleep(300)
    for (const wanted of held.reverse())
      await release(run, lock, { proc: name, owner, mode: wanted })
  }
}

interface Ask {
  readonly proc: string
  readonly owner: string
  readonly reqId: string
  readonly mode: Mode
  readonly random: Random
}

async function acquire(run: Run, lock: ToyLock, ask: Ask): Promise<boolean> {
  const { proc, owner, reqId, mode, random } = ask
  const waitMs = random.pick([0, 100, 300])
  const ttlMs = 200
  for (let attempt = 0; attempt < 3; attempt++) {
    const call: HistoryCall = { proc, op: 'acquire', key: 'k', owner, reqId, mode, ttlMs, waitMs }
    const pending = run.recorder.call(call)
    const answer = await run.send(() =>
      lock.acquire(
        { owner, reqId, mode, ttlMs, waitMs },
        () => void run.tell(() => pending.queued()),
      ),
    )
    if (answer?.kind === 'granted') pending.ok(shownBy(answer))
    else if (answer === null) pending.info('no answer')
    else pending.fail(answer.code)
    if (answer !== null) return answer.kind === 'granted'
  }
  const cancel = run.recorder.call({ proc, op: 'cancel', key: 'k', owner, reqId })
  settle(cancel, await run.send(() => (lock.cancel(owner, reqId), 'ok')))
  return false
}

function shownBy({ token, reads, writes }: ToyGrant): ToyGrant {
  return { token, reads, writes }
}

async function release(
  run: Run,
  lock: ToyLock,
  { proc, owner, mode }: { proc: string; owner: string; mode: Mode },
): Promise<void> {
  const reqId = `release ${run.clock.nowMs()} ${mode}`
  for (let attempt = 0; attempt < 2; attempt++) {
    const pending = run.recorder.call({ proc, op: 'release', key: 'k', owner, mode, reqId })
    const code = await run.send(() => lock.release(owner, mode, reqId))
    settle(pending, code)
    if (code !== null) return
  }
}

async function renew(
  run: Run,
  lock: ToyLock,
  { proc, owner }: { proc: string; owner: string },
): Promise<void> {
  const pending = run.recorder.call({ proc, op: 'renew', key: 'k', owner, ttlMs: 200 })
  settle(pending, await run.send(() => lock.renew(owner, 200)))
}

async function seeLock(run: Run, lock: ToyLock, proc: string): Promise<void> {
  const pending = run.recorder.call({ proc, op: 'check', key: 'k' })
  const seen = await run.send(() => ({
    holders: [...lock.holds].map(([owner, { reads, writes, token }]) => ({
      owner,
      reads,
      writes,
      token,
    })),
    waiters: lock.queue.map(({ owner, reqId }) => ({ owner, reqId })),
  }))
  if (seen === null) pending.info('no answer')
  else pending.ok(seen)
}

async function playResource(
  run: Run,
  resource: ToyResource,
  { name, random }: Client,
): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    await run.sleep(random.int(0, 40))
    const deed = random.weighted([
      ['work', 6],
      ['unref', 2],
      ['see', 2],
    ] as const)
    if (deed === 'see') await seeReferences(run, resource, name)
    if (deed === 'unref') {
      const pending = run.recorder.call({ proc: name, op: 'unref', key: 'k', node: name })
      settle(pending, await run.send(() => (resource.unref(name), 'ok')))
    }
    if (deed === 'work') await work(run, resource, { name, random })
  }
}

async function work(
  run: Run,
  resource: ToyResource,
  { name: node, random }: Client,
): Promise<void> {
  const type = random.weighted([
    ['pull', 4],
    ['update', 2],
    ['delete', 3],
  ] as const)
  const version = random.pick([undefined, 'v1', 'v2'])
  const request = { type, node, version, ttlMs: 200 }
  const pending = run.recorder.call({ proc: node, op: 'begin', key: 'k', waitMs: 0, ...request })
  const answer = await run.send(() => resource.begin(request))
  if (answer === null) return pending.info('no answer')
  if (answer.kind === 'skip') return pending.ok({ answer: 'skip', value: answer.value })
  if (answer.kind === 'refused') {
    return pending.fail(answer.code, 'refs' in answer ? { refs: answer.refs } : {})
  }
  pending.ok({ token: answer.token })
  await run.sleep(random.chance(0.1) ? 300 : random.int(0, 60))
  const success = random.chance(0.8)
  const value = `${node} at ${run.clock.nowMs()}`
  const call: HistoryCall = { proc: node, op: 'finish', key: 'k', type, node, success, value }
  const finish = run.recorder.call(call)
  settle(finish, await run.send(() => resource.finish(type, node, { success, value })))
}

async function seeReferences(run: Run, resource: ToyResource, proc: string): Promise<void> {
  const pending = run.recorder.call({ proc, op: 'check', key: 'k', space: 'operation' })
  const refs = await run.send(() => [...resource.refs])
  if (refs === null) pending.info('no answer')
  else pending.ok({ refs })
}

function settle(pending: PendingCall, code: string | null): void {
  if (code === null) pending.info('no answer')
  else if (code === 'ok') pending.ok()
  else pending.fail(code)
}
