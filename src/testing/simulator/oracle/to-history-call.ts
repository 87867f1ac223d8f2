import type { Command } from '../../../law/model/commands.ts'
import type { HistoryCall } from '../../history.ts'

/** A command in the words of a history; `graces` are those of the sessions that the client opened. */
export function toHistoryCall(
  proc: string,
  command: Command,
  graces: ReadonlyMap<string, number>,
): HistoryCall {
  switch (command.kind) {
    case 'acquire': {
      const { key, owner, requestId: reqId, mode = 'write', lane, ttlMs, waitMs, session } = command
      return { proc, op: 'acquire', key, owner, reqId, mode, lane, ttlMs, waitMs, session }
    }
    case 'release': {
      const { key, owner, mode, token, requestId: reqId } = command
      return { proc, op: 'release', key, owner, mode, token, reqId }
    }
    case 'renew': {
      const { key, owner, ttlMs, token } = command
      return { proc, op: 'renew', key, owner, ttlMs, token }
    }
    case 'cancel': {
      const { key, owner, requestId: reqId, namespace: space } = command
      return { proc, op: 'cancel', key, owner, reqId, space }
    }
    case 'force': {
      const { key, owner, namespace: space } = command
      return { proc, op: 'force', key, owner, space }
    }
    case 'begin': {
      const { resource: key, requestId: reqId, type, node, version, ttlMs } = command
      const { waitMs, lane, session, coordination } = command
      const asked = { type, node, version, ttlMs, waitMs, lane, session, coordination }
      return { proc, op: 'begin', key, reqId, ...asked }
    }
    case 'finish': {
      const { resource: key, requestId: reqId, type, node, success, value } = command
      const { token, coordination } = command
      return { proc, op: 'finish', key, reqId, type, node, success, value, token, coordination }
    }
    case 'unref': {
      const { resource: key, node } = command
      return { proc, op: 'unref', key, node }
    }
    case 'open-session': {
      const { session, graceMs: ttlMs, keepsLeases } = command
      return { proc, op: 'session', session, action: 'open', ttlMs, keepsLeases }
    }
    case 'touch-session': {
      const { session } = command
      return { proc, op: 'session', session, action: 'beat', ttlMs: graces.get(session) }
    }
    case 'close-session':
      return { proc, op: 'session', session: command.session, action: 'end' }
    case 'sweep':
      return { proc, op: 'check' }
  }
}
