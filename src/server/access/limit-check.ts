import { createError, type LockError } from '../../engine/errors/errors.ts'
import type { Command } from '../../law/model/commands.ts'
import { nodeOf } from '../../law/operations.ts'
import type { Namespace } from '../../law/model/view.ts'
import { ID_BYTES_MAX, OWNER_BYTES_MAX, TTL_MS_MIN } from '../../engine/validation/limits.ts'
import { utf8Length } from '../../engine/validation/names.ts'
import type { ServerLimits } from '../server-limits.ts'

/** The fields of commands that limits bound. */
interface Bounded {
  readonly key?: string | undefined
  readonly resource?: string | undefined
  readonly owner?: string | undefined
  readonly node?: string | undefined
  readonly party?: string | undefined
  readonly session?: string | undefined
  readonly ttlMs?: number | undefined
  readonly waitMs?: number | undefined
  readonly namespace?: Namespace | undefined
}

/**
 * What an operator's limits have against a command; the bounds of the contract are the engine's business.
 * `prefixBytes` is what the principal's name takes away from the names that it may give.
 */
export class LimitCheck {
  readonly #limits: ServerLimits
  readonly #ownerBytesMax: number
  readonly #sessionBytesMax: number

  constructor(limits: ServerLimits, prefixBytes: number) {
    this.#limits = limits
    this.#ownerBytesMax = Math.min(limits.owner, OWNER_BYTES_MAX - prefixBytes)
    this.#sessionBytesMax = ID_BYTES_MAX - prefixBytes
  }

  /** Throws an `InvalidArgumentError` that names the field. */
  assert(command: Command): void {
    const { key: keyBytesMax, ttl, wait } = this.#limits
    // The owner whose holds an operator ends may be that of another principal.
    if (command.kind === 'force') return assertName('key', command.key, keyBytesMax)
    const { key, resource, owner, node, party, session, ttlMs, waitMs, namespace } =
      command as Bounded
    assertName('key', key, keyBytesMax)
    assertName('resource', resource, keyBytesMax)
    const name = owner !== undefined && namespace === 'operation' ? nodeOf(owner) : owner
    assertName('owner', name, this.#ownerBytesMax)
    assertName('node', node, this.#ownerBytesMax)
    assertName('party', party, this.#sessionBytesMax)
    assertName('session', session, this.#sessionBytesMax)
    if (ttlMs !== undefined && (ttlMs < TTL_MS_MIN || ttlMs > ttl)) {
      throw refuse('ttlMs', `must be from ${TTL_MS_MIN} to ${ttl}`)
    }
    // A wait without a number ends with its connection, so no number bounds it.
    if (waitMs === undefined || waitMs === Number.POSITIVE_INFINITY) return
    if (waitMs < 0 || waitMs > wait) throw refuse('waitMs', `must be from 0 to ${wait}`)
  }
}

/** One UTF-16 unit is at most three bytes; what is no string is the engine's to refuse. */
function assertName(field: string, value: string | undefined, bytesMax: number): void {
  if (typeof value !== 'string' || value.length * 3 <= bytesMax) return
  if (utf8Length(value) > bytesMax) throw refuse(field, `is longer than ${bytesMax} bytes`)
}

function refuse(field: string, message: string): LockError {
  return createError('LOCK_INVALID_ARGUMENT', `${field} ${message}`, { details: { field } })
}
