import { createError, type LockError } from '../../engine/errors/errors.ts'
import type { Command } from '../../law/model/commands.ts'
import { ID_BYTES_MAX, OWNER_BYTES_MAX, TTL_MS_MIN } from '../../engine/validation/limits.ts'
import { utf8Length } from '../../engine/validation/names.ts'
import type { ServerLimits } from '../server-limits.ts'

/**
 * What an operator's limits have against a command; the law's own bounds are the engine's business.
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
    switch (command.kind) {
      case 'acquire':
        this.#assertLock(command)
        this.#assertName('party', command.party, this.#sessionBytesMax)
        this.#assertName('session', command.session, this.#sessionBytesMax)
        this.#assertTimes(command)
        return
      case 'release':
      case 'cancel':
        this.#assertLock(command)
        return
      case 'renew':
        this.#assertLock(command)
        this.#assertTimes(command)
        return
      case 'begin':
        this.#assertOperation(command)
        this.#assertName('session', command.session, this.#sessionBytesMax)
        this.#assertTimes(command)
        return
      case 'finish':
      case 'withdraw':
      case 'unref':
        this.#assertOperation(command)
        return
      case 'open-session':
      case 'touch-session':
      case 'close-session':
        this.#assertName('session', command.session, this.#sessionBytesMax)
        return
      case 'force':
        this.#assertName('key', command.key, this.#limits.key)
        return
      case 'sweep':
    }
  }

  #assertLock({ key, owner }: { readonly key: string; readonly owner: string }): void {
    this.#assertName('key', key, this.#limits.key)
    this.#assertName('owner', owner, this.#ownerBytesMax)
  }

  #assertOperation({
    resource,
    node,
  }: {
    readonly resource?: string | undefined
    node: string
  }): void {
    this.#assertName('resource', resource, this.#limits.key)
    this.#assertName('node', node, this.#ownerBytesMax)
  }

  /** A wait without a number ends with its connection, so no number bounds it. */
  #assertTimes({
    ttlMs,
    waitMs,
  }: {
    readonly ttlMs?: number | undefined
    waitMs?: number | undefined
  }): void {
    const { ttl, wait } = this.#limits
    if (ttlMs !== undefined && (ttlMs < TTL_MS_MIN || ttlMs > ttl)) {
      throw refuse('ttlMs', `must be from ${TTL_MS_MIN} to ${ttl}`)
    }
    if (waitMs === undefined || waitMs === Number.POSITIVE_INFINITY) return
    if (waitMs < 0 || waitMs > wait) throw refuse('waitMs', `must be from 0 to ${wait}`)
  }

  /** One UTF-16 unit is at most three bytes; what is no string is the law's to refuse. */
  #assertName(field: string, value: string | undefined, bytesMax: number): void {
    if (typeof value !== 'string' || value.length * 3 <= bytesMax) return
    if (utf8Length(value) > bytesMax) throw refuse(field, `is longer than ${bytesMax} bytes`)
  }
}

function refuse(field: string, message: string): LockError {
  return createError('LOCK_INVALID_ARGUMENT', `${field} ${message}`, { details: { field } })
}
