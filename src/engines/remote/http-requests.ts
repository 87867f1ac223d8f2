import { randomUUID } from 'node:crypto'
import { knownCode } from '../../engine/error-catalogue.ts'
import { createError, type LockError } from '../../engine/errors.ts'
import type { Query } from '../../engine/queries.ts'
import type { Command } from '../../law/commands.ts'
import { KEY_BYTES_MAX } from '../../engine/validation/limits.ts'
import { problemWithName } from '../../engine/validation/names.ts'
import { writeCommand } from '../../protocol/json/command-body.ts'
import { toCamel } from '../../protocol/json/key-case.ts'
import { codeOfStatus } from '../../protocol/json/status-code.ts'
import type { HttpAnswer } from './http-attempt.ts'
import type { HttpCall } from './http-link.ts'
import { toInvalidArgument } from '../../engine/engine-errors.ts'

/**
 * The request that carries a command. The law's own request ids make a retry harmless where a command
 * has one; the others carry a key that the server remembers with its answer.
 */
export function toRequest(command: Command): HttpCall {
  const body = writeBody(command)
  switch (command.kind) {
    case 'acquire':
    case 'release':
    case 'begin':
    case 'finish':
      return { method: 'POST', path: `/v1/${command.kind}`, body: () => body }
    case 'renew':
    case 'cancel':
    case 'withdraw':
    case 'unref':
    case 'sweep':
      return once({ method: 'POST', path: `/v1/${command.kind}`, body: () => body })
    case 'force': {
      const { key, owner, namespace: kind } = command
      return once({
        method: 'DELETE',
        path: `/v1/locks/${encodeURIComponent(key)}${search({ owner, kind })}`,
      })
    }
    case 'open-session':
      return once({ method: 'PUT', path: sessionPath(command.session), body: () => body })
    case 'touch-session':
      return once({ method: 'POST', path: sessionPath(command.session), body: () => body })
    case 'close-session':
      return once({ method: 'DELETE', path: sessionPath(command.session) })
  }
}

function once(call: HttpCall): HttpCall {
  return { ...call, headers: { 'idempotency-key': randomUUID() } }
}

/** A release and the end of an operation take effect once, however often they are sent. */
export function withRequestId<C extends Command>(command: C): C {
  switch (command.kind) {
    case 'release':
    case 'begin':
    case 'finish':
      return command.requestId === undefined ? { ...command, requestId: randomUUID() } : command
    default:
      return command
  }
}

/** What the order of commands is kept for; `undefined` for what is about many keys. */
export function orderKeyOf(command: Command): string | undefined {
  switch (command.kind) {
    case 'acquire':
    case 'release':
    case 'renew':
    case 'cancel':
      return `lock\n${command.key}`
    case 'force':
      return `${command.namespace ?? 'lock'}\n${command.key}`
    case 'begin':
    case 'finish':
    case 'withdraw':
      return `operation\n${command.resource}`
    case 'unref':
      return command.resource === undefined ? undefined : `operation\n${command.resource}`
    case 'open-session':
    case 'touch-session':
    case 'close-session':
      return `session\n${command.session}`
    case 'sweep':
      return undefined
  }
}

/** Where a query is read. */
export function toPath(query: Query): string {
  switch (query.kind) {
    case 'inspect': {
      const { key, namespace: kind, queueLimit } = query
      return `${keyPath(query, key)}${search({ kind, queue_limit: queueLimit })}`
    }
    case 'standing': {
      const { key, owner, namespace: kind } = query
      return `${keyPath(query, key)}/standing${search({ owner, kind })}`
    }
    case 'list': {
      const { prefix, owner, namespace: kind, limit, cursor } = query
      return `/v1/locks${search({ prefix, owner, kind, limit, cursor })}`
    }
    case 'references':
      return `/v1/references${search({ resource: query.resource })}`
    case 'stats':
      return '/v1/stats'
    case 'history': {
      const { key, namespace: kind, limit } = query
      if (key !== undefined) checkKey(query, key)
      return `/v1/history${search({ key, kind, limit })}`
    }
    default:
      throw toInvalidArgument(query, { field: 'kind', message: 'names no query' })
  }
}

/** What follows the path; absent parameters are left out. */
export function search(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const parts: string[] = []
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) parts.push(`${name}=${encode(name, String(value))}`)
  }
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}

function keyPath(query: Query, key: string): string {
  checkKey(query, key)
  return `/v1/locks/${encodeURIComponent(key)}`
}

/** An empty text in a URL is the same as none. */
function checkKey(query: Query, key: string): void {
  const message = problemWithName(key, KEY_BYTES_MAX)
  if (message !== undefined) throw toInvalidArgument(query, { field: 'key', message })
}

function sessionPath(session: string): string {
  return `/v1/sessions/${encodeURIComponent(session)}`
}

function encode(name: string, text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw toInvalidArgument(
      { kind: 'read' },
      { field: name, message: 'is not well-formed Unicode' },
    )
  }
}

function writeBody(command: Command): Record<string, unknown> {
  try {
    return writeCommand(command)
  } catch {
    const field = command.kind === 'finish' ? 'value' : 'meta'
    throw toInvalidArgument(command, { field, message: 'must be JSON' })
  }
}

/** An answer that is not what was asked for, as the error that it means. */
export function toError(asked: { readonly kind: string }, { status, body }: HttpAnswer): LockError {
  const { error, field, cause, applied } = (body ?? {}) as Record<string, unknown>
  const message = typeof error === 'string' ? error : `the server answered ${status}`
  const code = codeOfStatus(status)
  if (code === 'LOCK_INVALID_ARGUMENT') {
    return toInvalid(message, typeof field === 'string' ? field : 'body')
  }
  if (code !== 'LOCK_ENGINE_UNAVAILABLE') return createError(code, message)
  if (status === 503) {
    return createError(knownCode(cause) ?? code, message, {
      applied: applied === 'no' ? 'no' : 'maybe',
    })
  }
  return createError(code, `${asked.kind}: ${message}`, {
    applied: status >= 500 ? 'maybe' : 'no',
    details: { status },
  })
}

/** The field that is wrong has its name in the code, also where the message begins with it. */
function toInvalid(message: string, wire: string): LockError {
  const field = wire === 'kind' ? 'namespace' : toCamel(wire)
  const shown = message.startsWith(`${wire} `) ? field + message.slice(wire.length) : message
  return createError('LOCK_INVALID_ARGUMENT', shown, { details: { field } })
}
