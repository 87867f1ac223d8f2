/**
 * A child process that takes and gives back locks on a data directory until it is killed. Everything it
 * asks and is told goes to a log, one JSON text a line, written before it goes on: a kill does not take
 * that back. When it has had enough answers it says so on standard output, and works on.
 *
 * node --import tsx lock-taker.ts DIRECTORY LOG GENERATION SEED ANSWERS
 */
import { openSync, writeSync } from 'node:fs'
import { openFileEngine } from '../../src/engines/embedded/embedded-engine.ts'
import type { LockEngine } from '../../src/engine/engine.ts'
import type { Command } from '../../src/law/model/commands.ts'
import type { Outcome } from '../../src/law/model/outcomes.ts'
import type { HistoryAnswer, HistoryCall } from '../../src/testing/history.ts'
import { Random } from '../../src/testing/random.ts'

const KEYS = 6
const CLIENTS = 8
const TTL_MS = 600_000

const [directory = '', logPath = '', generation = '0', seed = '1', answers = '1'] =
  process.argv.slice(2)
const log = openSync(logPath, 'a')
const random = new Random(Number(seed))
const keys = Array.from({ length: KEYS }, (_, index) => `g${generation}/key-${index}`)
const resources = Array.from({ length: 2 }, (_, index) => `g${generation}/resource-${index}`)
let calls = 0
let answered = 0

function say(line: object): void {
  writeSync(log, `${JSON.stringify({ ...line, at: Number(process.hrtime.bigint()) / 1e6 })}\n`)
}

/** Say what is asked, ask it, say what was answered. */
async function record<T>(
  call: HistoryCall,
  ask: () => Promise<T>,
  tell: (answer: T) => Told,
): Promise<T> {
  calls += 1
  const id = `${process.pid}-${calls}`
  say({ call: id, ...call })
  const answer = await ask()
  say({ ret: id, ...tell(answer) })
  answered += 1
  if (answered === Number(answers)) process.stdout.write('enough')
  return answer
}

interface Told extends HistoryAnswer {
  readonly outcome: 'ok' | 'fail'
}

function toTold(outcome: Outcome): Told {
  if (outcome.kind === 'refused') return { outcome: 'fail', code: outcome.code, answer: 'refused' }
  const { kind } = outcome
  const answer = kind === 'skip' || kind === 'granted' || kind === 'queued' ? kind : 'done'
  const token = 'token' in outcome ? { token: outcome.token } : {}
  const counts = 'reads' in outcome ? { reads: outcome.reads, writes: outcome.writes } : {}
  return { outcome: 'ok', answer, ...token, ...counts }
}

class Taker {
  readonly #engine: LockEngine
  readonly #proc: string

  constructor(engine: LockEngine, proc: string) {
    this.#engine = engine
    this.#proc = proc
  }

  send(call: Omit<HistoryCall, 'proc'>, command: Command): Promise<Outcome> {
    return record({ proc: this.#proc, ...call }, async () => this.#engine.apply(command), toTold)
  }

  /** Look at a key, and give back what a life before this one left held. */
  async tidy(key: string, space: 'lock' | 'operation'): Promise<void> {
    const { holders } = await record(
      { proc: this.#proc, op: 'check', key, space },
      () => this.#engine.read({ kind: 'inspect', key, namespace: space }),
      ({ holders: held, references }) => ({
        outcome: 'ok',
        holders: held.map(({ owner, reads, writes, token }) => ({ owner, reads, writes, token })),
        ...(space === 'operation' ? { refs: references } : {}),
      }),
    )
    for (const { owner, token, type, node } of holders) {
      if (type === undefined || node === undefined) {
        await this.send(
          { op: 'release', key, owner, token },
          { kind: 'release', key, owner, token },
        )
      } else {
        await this.#finish(type, node, { resource: key, success: false })
      }
    }
  }

  async lockAndRelease(turn: number): Promise<void> {
    const key = random.pick(keys)
    const mode = random.chance(0.4) ? 'read' : 'write'
    const owner = `${this.#proc}-${turn}`
    const asked = { key, owner, mode, ttlMs: TTL_MS } as const
    const outcome = await this.send(
      { op: 'acquire', reqId: '1', ...asked },
      { kind: 'acquire', requestId: '1', ...asked },
    )
    if (outcome.kind !== 'granted' || random.chance(0.03)) return
    const { token } = outcome
    const given = { key, owner, mode, token } as const
    await this.send({ op: 'release', ...given }, { kind: 'release', ...given })
  }

  async operate(turn: number): Promise<void> {
    const resource = random.pick(resources)
    const type = random.pick(['pull', 'update', 'delete'])
    // A node of its own for every turn: to the checks, a node that asks again goes on with its request.
    const node = `${this.#proc}-${turn}`
    const asked = { type, node, ttlMs: TTL_MS }
    const outcome = await this.send(
      { op: 'begin', key: resource, ...asked },
      { kind: 'begin', resource, ...asked },
    )
    if (outcome.kind === 'granted') {
      await this.#finish(type, node, { resource, success: random.chance(0.7) })
    } else if (outcome.kind === 'queued') {
      const owner = `${type}:${node}`
      await this.send(
        { op: 'cancel', space: 'operation', owner, key: resource },
        { kind: 'cancel', namespace: 'operation', key: resource, owner },
      )
    }
    if (random.chance(0.5)) {
      await this.send({ op: 'unref', node, key: resource }, { kind: 'unref', node, resource })
    }
  }

  #finish(
    type: string,
    node: string,
    { resource, success }: { readonly resource: string; readonly success: boolean },
  ): Promise<Outcome> {
    return this.send(
      { op: 'finish', type, node, key: resource, success },
      { kind: 'finish', type, node, resource, success },
    )
  }
}

const engine = await openFileEngine(directory, { journal: { compactMinBytes: 16_384 } })
const tidier = new Taker(engine, `${process.pid}-tidier`)
for (const key of keys) await tidier.tidy(key, 'lock')
for (const resource of resources) await tidier.tidy(resource, 'operation')
say({ ready: true })
const takers = Array.from({ length: CLIENTS }, (_, n) => new Taker(engine, `${process.pid}-${n}`))
await Promise.all(
  takers.map(async (taker, index) => {
    for (let turn = 0; ; turn += 1) {
      if (index < 2) await taker.operate(turn)
      else await taker.lockAndRelease(turn)
    }
  }),
)
