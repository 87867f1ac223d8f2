import type { Acquire, Begin, Cancel, Command, Finish } from '../../law/model/commands.ts'
import {
  ERROR_BYTES_MAX,
  GRACE_MS_MAX,
  GRACE_MS_MIN,
  ID_BYTES_MAX,
  KEY_BYTES_MAX,
  LANES_MAX,
  META_BYTES_MAX,
  OWNER_BYTES_MAX,
  TTL_MS_MAX,
  TTL_MS_MIN,
  TYPE_CHARS_MAX,
  VALUE_BYTES_MAX,
  WAIT_MS_MAX,
} from './limits.ts'
import { problemWithName, utf8Length } from './names.ts'
import type { LawSettings } from '../../law/model/settings.ts'

/** What is wrong with a command: the field, and why. */
export interface Problem {
  readonly field: string
  readonly message: string
}

export type Check = (value: unknown) => string | undefined

export const key: Check = (value) => problemWithName(value, KEY_BYTES_MAX)
const owner: Check = (value) => problemWithName(value, OWNER_BYTES_MAX)
/** An operation's owner is its type and node together. */
export const anyOwner: Check = (value) =>
  problemWithName(value, OWNER_BYTES_MAX + TYPE_CHARS_MAX + 1)
const id: Check = (value) => problemWithName(value, ID_BYTES_MAX)

const type: Check = (value) =>
  typeof value === 'string' && value.length <= TYPE_CHARS_MAX && /^[A-Za-z0-9._-]+$/.test(value)
    ? undefined
    : `must be 1 to ${TYPE_CHARS_MAX} letters, digits, '.', '_' or '-'`

const ttl: Check = (value) => inRange(value, TTL_MS_MIN, TTL_MS_MAX)
const grace: Check = (value) => inRange(value, GRACE_MS_MIN, GRACE_MS_MAX)
const wait: Check = (value) =>
  value === Number.POSITIVE_INFINITY ? undefined : inRange(value, 0, WAIT_MS_MAX)
const token: Check = (value) => inRange(value, 0, Number.MAX_SAFE_INTEGER)

function inRange(value: unknown, min: number, max: number): string | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) return 'must be a whole number'
  return value < min || value > max ? `must be from ${min} to ${max}` : undefined
}

const span: Check = (value) =>
  value === Number.POSITIVE_INFINITY ? undefined : inRange(value, 1, Number.MAX_SAFE_INTEGER)

const lanes: Check = (value) => {
  if (!Array.isArray(value) || value.length > LANES_MAX) return `must be at most ${LANES_MAX} names`
  if (new Set(value).size < value.length) return 'must not have a name twice'
  for (const name of value) {
    const problem = id(name)
    if (problem !== undefined) return `has a name that ${problem}`
  }
  return undefined
}

const mode: Check = (value) =>
  value === 'write' || value === 'read' ? undefined : oneOf(value, ['read', 'write'])
const coordination: Check = (value) => oneOf(value, ['server', 'client', 'mutex'])
const reason: Check = (value) => oneOf(value, ['cancelled', 'abandoned'])
export const namespace: Check = (value) => oneOf(value, ['lock', 'operation'])
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false')

function oneOf(value: unknown, allowed: readonly string[]): string | undefined {
  return allowed.includes(value as string) ? undefined : `must be one of ${allowed.join(', ')}`
}

const meta: Check = (value) => problemWithText(value, META_BYTES_MAX)
const text: Check = (value) => problemWithText(value, VALUE_BYTES_MAX)
const error: Check = (value) => problemWithText(value, ERROR_BYTES_MAX)

function problemWithText(value: unknown, bytesMax: number): string | undefined {
  if (typeof value !== 'string') return 'must be a string'
  return utf8Length(value) > bytesMax ? `is longer than ${bytesMax} bytes` : undefined
}

/** The problem of a field that must be there. */
export function need(field: string, value: unknown, check: Check): Problem | undefined {
  const message = check(value)
  return message === undefined ? undefined : { field, message }
}

/** The problem of a field that may be absent. */
export function may(field: string, value: unknown, check: Check): Problem | undefined {
  return value === undefined ? undefined : need(field, value, check)
}

/** Remembers names that were found to be well formed, so that they are not gone through again. */
export interface KnownNames {
  /** What is known of a lock's key and an owner: both, the key alone, or neither. */
  known(key: string, owner: string): 'both' | 'key' | undefined
}

const NOTHING_KNOWN: KnownNames = { known: () => undefined }

/** What is wrong with a command before anything is decided; `undefined` when it is well formed. */
export function problemWith(
  command: Command,
  names: KnownNames = NOTHING_KNOWN,
): Problem | undefined {
  switch (command.kind) {
    case 'acquire':
      return problemWithAcquire(command, names)
    case 'release':
      return (
        problemWithHolder(command, names) ??
        may('mode', command.mode, mode) ??
        may('token', command.token, token) ??
        may('requestId', command.requestId, id)
      )
    case 'renew':
      return (
        problemWithHolder(command, names) ??
        need('ttlMs', command.ttlMs, ttl) ??
        may('token', command.token, token)
      )
    case 'cancel':
      return problemWithCancel(command, names)
    case 'force':
      return (
        need('key', command.key, key) ??
        may('owner', command.owner, anyOwner) ??
        may('namespace', command.namespace, namespace)
      )
    case 'begin':
      return problemWithBegin(command)
    case 'finish':
      return problemWithFinish(command)
    case 'unref':
      return may('resource', command.resource, key) ?? need('node', command.node, owner)
    case 'open-session':
      return (
        need('session', command.session, id) ??
        need('graceMs', command.graceMs, grace) ??
        may('keepsLeases', command.keepsLeases, flag)
      )
    case 'touch-session':
    case 'close-session':
      return need('session', command.session, id)
    case 'sweep':
      return undefined
    default:
      return { field: 'kind', message: 'names no command' }
  }
}

function problemWithHolder(
  { key: ofLock, owner: ofHolder }: Pick<Acquire, 'key' | 'owner'>,
  names: KnownNames,
): Problem | undefined {
  const known = names.known(ofLock, ofHolder)
  if (known === 'both') return undefined
  const problem = known === 'key' ? undefined : named('key', ofLock, KEY_BYTES_MAX)
  return problem ?? named('owner', ofHolder, OWNER_BYTES_MAX)
}

/** As `need` for a name; written out because every acquire and release comes through here. */
function named(field: string, value: unknown, bytesMax: number): Problem | undefined {
  const message = problemWithName(value, bytesMax)
  return message === undefined ? undefined : { field, message }
}

function problemWithAcquire(command: Acquire, names: KnownNames): Problem | undefined {
  return (
    problemWithHolder(command, names) ??
    named('requestId', command.requestId, ID_BYTES_MAX) ??
    may('mode', command.mode, mode) ??
    may('ttlMs', command.ttlMs, ttl) ??
    may('waitMs', command.waitMs, wait) ??
    may('party', command.party, id) ??
    may('lane', command.lane, id) ??
    may('session', command.session, id) ??
    may('meta', command.meta, meta) ??
    problemWithDetach(command)
  )
}

function problemWithDetach({ detach, waitMs }: Acquire): Problem | undefined {
  if (detach === undefined || detach === false) return undefined
  if (detach !== true) return { field: 'detach', message: 'must be true or false' }
  return (waitMs ?? 0) > 0 ? undefined : { field: 'detach', message: 'needs a wait above 0' }
}

/** The request of an operation that names none goes by its owner's name. */
function problemWithCancel(command: Cancel, names: KnownNames): Problem | undefined {
  const isOperation = command.namespace === 'operation'
  const problem = isOperation
    ? (need('key', command.key, key) ?? need('owner', command.owner, anyOwner))
    : problemWithHolder(command, names)
  return (
    problem ??
    may('namespace', command.namespace, namespace) ??
    may('requestId', command.requestId, isOperation ? anyOwner : id) ??
    may('reason', command.reason, reason)
  )
}

function problemWithOperation(
  command: Pick<Begin, 'type' | 'resource' | 'node'>,
): Problem | undefined {
  return (
    need('type', command.type, type) ??
    need('resource', command.resource, key) ??
    need('node', command.node, owner)
  )
}

function problemWithBegin(command: Begin): Problem | undefined {
  return (
    problemWithOperation(command) ??
    may('version', command.version, id) ??
    may('requestId', command.requestId, anyOwner) ??
    may('ttlMs', command.ttlMs, ttl) ??
    may('waitMs', command.waitMs, wait) ??
    may('lane', command.lane, id) ??
    may('session', command.session, id) ??
    may('coordination', command.coordination, coordination) ??
    may('meta', command.meta, meta)
  )
}

function problemWithFinish(command: Finish): Problem | undefined {
  return (
    problemWithOperation(command) ??
    need('success', command.success, flag) ??
    may('error', command.error, error) ??
    may('value', command.value, text) ??
    may('token', command.token, token) ??
    may('requestId', command.requestId, anyOwner) ??
    may('coordination', command.coordination, coordination)
  )
}

/** What is wrong with the settings that somebody chose. */
export function problemWithSettings(settings: LawSettings): Problem | undefined {
  return (
    need('lanes', settings.lanes, lanes) ??
    need('coordination', settings.coordination, coordination) ??
    need('multiNode', settings.multiNode, flag) ??
    need('updateRequiresNoRef', settings.updateRequiresNoRef, flag) ??
    need('lockTtlMs', settings.lockTtlMs, ttl) ??
    need('operationTtlMs', settings.operationTtlMs, ttl) ??
    need('retentionMs', settings.retentionMs, span) ??
    need('waiterPatienceMs', settings.waiterPatienceMs, span) ??
    need('claimWindowMs', settings.claimWindowMs, span) ??
    need('openPatienceMs', settings.openPatienceMs, span) ??
    need('waitersPerKeyMax', settings.waitersPerKeyMax, token) ??
    need('holdersPerKeyMax', settings.holdersPerKeyMax, token) ??
    need('referencesPerResourceMax', settings.referencesPerResourceMax, token)
  )
}
