import { isLockError } from '../../engine/errors/errors.ts'
import type { Command } from '../../law/model/commands.ts'
import type { Outcome } from '../../law/model/outcomes.ts'
import type { HistoryAnswer, HistoryCall } from '../history.ts'
import type { HistoryRecorder } from '../history-recorder.ts'
import type { AcquireFields, BeginFields, EngineRig, FinishFields } from './engine-rig.ts'

type Call = Omit<HistoryCall, 'proc'>

/** What the clients of one run have in common. */
export interface Recording {
  readonly rig: EngineRig
  readonly recorder: HistoryRecorder
}

/** One client of an engine whose every call and answer goes into a history. */
export class RecordedClient {
  readonly name: string
  readonly rig: EngineRig
  readonly #recording: Recording

  constructor(name: string, recording: Recording) {
    this.name = name
    this.rig = recording.rig
    this.#recording = recording
  }

  /** `null` where the call failed instead of being answered. */
  acquire(owner: string, fields: AcquireFields, signal?: AbortSignal): Promise<Outcome | null> {
    const command = this.rig.toAcquire(owner, fields)
    const { key, requestId: reqId, mode = 'write', ttlMs, waitMs, session } = command
    const call = { op: 'acquire', owner, key, reqId, mode, ...given({ ttlMs, waitMs, session }) }
    return this.#send(call as Call, command, signal)
  }

  release(
    owner: string,
    fields: { key: string; mode?: 'read' | 'write'; token?: number; requestId?: string },
  ): Promise<Outcome | null> {
    const { requestId: reqId, ...rest } = fields
    const call: Call = { op: 'release', owner, ...rest, ...given({ reqId }) }
    return this.#send(call, { kind: 'release', owner, ...fields })
  }

  renew(owner: string, key: string, durationMs: number): Promise<Outcome | null> {
    const ttlMs = this.rig.ms(durationMs)
    const call: Call = { op: 'renew', owner, key, ttlMs }
    return this.#send(call, { kind: 'renew', owner, key, ttlMs })
  }

  cancel(owner: string, key: string, requestId: string): Promise<Outcome | null> {
    const call: Call = { op: 'cancel', owner, key, reqId: requestId }
    return this.#send(call, { kind: 'cancel', owner, key, requestId })
  }

  force(owner: string, key: string): Promise<Outcome | null> {
    return this.#send({ op: 'force', owner, key }, { kind: 'force', owner, key })
  }

  session(
    action: 'open' | 'beat' | 'end',
    session: string,
    graceMs: number,
  ): Promise<Outcome | null> {
    const ttlMs = this.rig.ms(graceMs)
    const call: Call = { op: 'session', action, session, ttlMs }
    if (action === 'open') {
      return this.#send(call, { kind: 'open-session', session, graceMs: ttlMs })
    }
    const kind = action === 'beat' ? 'touch-session' : 'close-session'
    return this.#send(call, { kind, session })
  }

  begin(type: string, node: string, fields: BeginFields): Promise<Outcome | null> {
    const command = this.rig.toBegin(type, node, fields)
    const { resource: key, version, ttlMs, waitMs } = command
    const call = { op: 'begin', type, node, key, ...given({ version, ttlMs, waitMs }) }
    return this.#send(call as Call, command)
  }

  finish(
    type: string,
    node: string,
    fields: FinishFields & { resource: string; success: boolean },
  ): Promise<Outcome | null> {
    const { resource: key, success, value } = fields
    const call = { op: 'finish', type, node, key, success, ...given({ value }) }
    return this.#send(call as Call, { kind: 'finish', type, node, ...fields })
  }

  withdraw(type: string, node: string, resource: string): Promise<Outcome | null> {
    const owner = `${type}:${node}`
    const call: Call = { op: 'cancel', space: 'operation', owner, key: resource }
    return this.#send(call, { kind: 'cancel', namespace: 'operation', key: resource, owner })
  }

  unref(node: string, resource: string): Promise<Outcome | null> {
    const call: Call = { op: 'unref', node, key: resource }
    return this.#send(call, { kind: 'unref', node, resource })
  }

  /** Look at who holds, who waits and who references. */
  async check(key: string, space: 'lock' | 'operation'): Promise<void> {
    const pending = this.#recording.recorder.call({ proc: this.name, op: 'check', key, space })
    const query = { kind: 'inspect', key, namespace: space, queueLimit: 1_000 } as const
    const { holders, queue, references } = await this.rig.read(query)
    pending.ok({
      holders: holders.map(({ owner, reads, writes, token }) => ({ owner, reads, writes, token })),
      waiters: queue.map(({ owner, requestId }) => ({ owner, reqId: requestId })),
      ...(space === 'operation' ? { refs: references } : {}),
    })
  }

  async #send(call: Call, command: Command, signal?: AbortSignal): Promise<Outcome | null> {
    const pending = this.#recording.recorder.call({ proc: this.name, ...call })
    let outcome: Outcome
    try {
      outcome = await this.rig.apply(command, { signal })
    } catch (error) {
      // Nobody saw what became of a call that was given up; any other failure is a finding.
      if (!isLockError(error, 'LOCK_ABORTED')) throw error
      pending.info(error.code)
      return null
    }
    if (outcome.kind === 'refused') pending.fail(outcome.code, given({ refs: outcome.nodes }))
    else pending.ok(toAnswer(outcome))
    return outcome
  }
}

function toAnswer(outcome: Outcome): HistoryAnswer {
  switch (outcome.kind) {
    case 'granted':
      return { token: outcome.token, reads: outcome.reads, writes: outcome.writes }
    case 'queued':
      return { answer: 'queued', position: outcome.position }
    case 'skip':
      return { answer: 'skip', ...given({ value: outcome.value }) }
    case 'released':
      return { reads: outcome.reads, writes: outcome.writes }
    default:
      return {}
  }
}

/** The fields that have a value. */
function given<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]?: NonNullable<Fields[Key]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Key in keyof Fields]?: NonNullable<Fields[Key]>
  }
}
