import type {
  Acquire,
  Begin,
  Cancel,
  CancelReason,
  Command,
  Finish,
  Force,
  Release,
} from '../../law/commands.ts'
import type { Coordination } from '../../law/settings.ts'
import type { Mode } from '../../law/view.ts'
import { COMMAND_OPS } from './message-codes.ts'
import type { PackReader } from './pack-reader.ts'
import type { PackWriter } from './pack-writer.ts'
import { ProtocolError } from './protocol-error.ts'

/**
 * Commands, by their fields in a fixed order. Types are checked here; whether the values make sense is
 * the law's business, which every engine asks before anything else.
 */

const OPS = COMMAND_OPS
/** No end of its own. */
const FOREVER = -1

export interface CommandContext {
  readonly id: number
  /** A session of this name is written as the empty name: "this session". */
  readonly ownSession: string
  readonly mayAbort: boolean
}

export function writeCommand(writer: PackWriter, command: Command, context: CommandContext): void {
  switch (command.kind) {
    case 'acquire':
      return writeAcquire(writer, command, context)
    case 'release':
      head(writer, 7, command.kind, context.id)
      writer.string(command.key)
      writer.string(command.owner)
      writeMode(writer, command.mode)
      writer.optionalNumber(command.token)
      return writer.optionalString(command.requestId)
    case 'renew':
      head(writer, 6, command.kind, context.id)
      writer.string(command.key)
      writer.string(command.owner)
      writer.number(command.ttlMs)
      return writer.optionalNumber(command.token)
    case 'cancel':
      head(writer, 6, command.kind, context.id)
      writer.string(command.key)
      writer.string(command.owner)
      writer.optionalString(command.requestId)
      return writer.optionalString(command.reason)
    case 'begin':
      return writeBegin(writer, command, context)
    case 'finish':
      return writeFinish(writer, command, context.id)
    case 'force':
    case 'withdraw':
    case 'unref':
    case 'open-session':
    case 'touch-session':
    case 'close-session':
    case 'sweep':
      return writeRare(writer, command, context.id)
  }
}

type RareKind =
  | 'force'
  | 'withdraw'
  | 'unref'
  | 'open-session'
  | 'touch-session'
  | 'close-session'
  | 'sweep'

function writeRare(
  writer: PackWriter,
  command: Extract<Command, { kind: RareKind }>,
  id: number,
): void {
  switch (command.kind) {
    case 'force':
      head(writer, 5, command.kind, id)
      writer.string(command.key)
      writer.optionalString(command.owner)
      return writer.optionalString(command.namespace)
    case 'withdraw':
      head(writer, 7, command.kind, id)
      writer.string(command.type)
      writer.string(command.resource)
      writer.string(command.node)
      writer.optionalString(command.reason)
      return writer.optionalString(command.requestId)
    case 'unref':
      head(writer, 4, command.kind, id)
      writer.optionalString(command.resource)
      return writer.string(command.node)
    case 'open-session':
      head(writer, 5, command.kind, id)
      writer.string(command.session)
      writer.number(command.graceMs)
      return writer.optionalBool(command.keepsLeases)
    case 'touch-session':
    case 'close-session':
      head(writer, 3, command.kind, id)
      return writer.string(command.session)
    case 'sweep':
      return head(writer, 2, command.kind, id)
  }
}

// oxlint-disable-next-line max-params -- one call per message; an object each would be the dearest part.
function head(writer: PackWriter, length: number, kind: Command['kind'], id: number): void {
  writer.array(length)
  writer.number(OPS[kind])
  writer.number(id)
}

function writeAcquire(writer: PackWriter, command: Acquire, context: CommandContext): void {
  head(writer, 14, 'acquire', context.id)
  writer.string(command.key)
  writer.string(command.owner)
  writer.string(command.requestId)
  writeMode(writer, command.mode)
  writer.optionalNumber(command.ttlMs)
  writeWait(writer, command.waitMs)
  writer.optionalBool(command.detach)
  writer.optionalString(command.party)
  writer.optionalString(command.lane)
  writeSession(writer, command.session, context.ownSession)
  writer.optionalString(command.meta)
  writer.bool(context.mayAbort)
}

function writeBegin(writer: PackWriter, command: Begin, context: CommandContext): void {
  head(writer, 14, 'begin', context.id)
  writer.string(command.type)
  writer.string(command.resource)
  writer.string(command.node)
  writer.optionalString(command.version)
  writer.optionalString(command.requestId)
  writer.optionalNumber(command.ttlMs)
  writeWait(writer, command.waitMs)
  writer.optionalString(command.lane)
  writeSession(writer, command.session, context.ownSession)
  writer.optionalString(command.coordination)
  writer.optionalString(command.meta)
  writer.bool(context.mayAbort)
}

function writeFinish(writer: PackWriter, command: Finish, id: number): void {
  head(writer, 11, 'finish', id)
  writer.string(command.type)
  writer.string(command.resource)
  writer.string(command.node)
  writer.bool(command.success)
  writer.optionalString(command.error)
  writer.optionalString(command.value)
  writer.optionalNumber(command.token)
  writer.optionalString(command.requestId)
  writer.optionalString(command.coordination)
}

/** 0 reads, 1 writes. */
export function writeMode(writer: PackWriter, mode: Mode | undefined): void {
  if (mode === undefined) writer.nil()
  else writer.number(mode === 'write' ? 1 : 0)
}

function writeWait(writer: PackWriter, waitMs: number | undefined): void {
  writer.optionalNumber(waitMs === Number.POSITIVE_INFINITY ? FOREVER : waitMs)
}

function writeSession(writer: PackWriter, session: string | undefined, own: string): void {
  if (session === undefined) writer.nil()
  else if (session === own) writer.string('')
  else writer.string(session)
}

/** The command of a message, or `undefined` if its code is none of a command's. */
export function readCommand(
  op: number,
  reader: PackReader,
  ownSession: string,
): Command | undefined {
  switch (op) {
    case OPS.acquire:
      return readAcquire(reader, ownSession)
    case OPS.release:
      return readRelease(reader)
    case OPS.renew:
      return {
        kind: 'renew',
        key: reader.string(),
        owner: reader.string(),
        ttlMs: reader.number(),
        token: reader.optionalNumber(),
      }
    case OPS.cancel:
      return readCancel(reader)
    case OPS.begin:
      return readBegin(reader, ownSession)
    case OPS.finish:
      return readFinish(reader)
    default:
      return readRare(op, reader)
  }
}

function readRare(op: number, reader: PackReader): Command | undefined {
  switch (op) {
    case OPS.force:
      return {
        kind: 'force',
        key: reader.string(),
        owner: reader.optionalString(),
        namespace: reader.optionalString() as Force['namespace'],
      }
    case OPS.withdraw:
      return {
        kind: 'withdraw',
        type: reader.string(),
        resource: reader.string(),
        node: reader.string(),
        reason: reader.optionalString() as CancelReason | undefined,
        requestId: reader.optionalString(),
      }
    case OPS.unref:
      return { kind: 'unref', resource: reader.optionalString(), node: reader.string() }
    case OPS['open-session']:
      return {
        kind: 'open-session',
        session: reader.string(),
        graceMs: reader.number(),
        keepsLeases: reader.optionalBool(),
      }
    case OPS['touch-session']:
      return { kind: 'touch-session', session: reader.string() }
    case OPS['close-session']:
      return { kind: 'close-session', session: reader.string() }
    case OPS.sweep:
      return { kind: 'sweep' }
    default:
      return undefined
  }
}

function readAcquire(reader: PackReader, ownSession: string): Acquire {
  return {
    kind: 'acquire',
    key: reader.string(),
    owner: reader.string(),
    requestId: reader.string(),
    mode: readMode(reader),
    ttlMs: reader.optionalNumber(),
    waitMs: readWait(reader),
    detach: reader.optionalBool(),
    party: reader.optionalString(),
    lane: reader.optionalString(),
    session: readSession(reader, ownSession),
    meta: reader.optionalString(),
  }
}

function readRelease(reader: PackReader): Release {
  return {
    kind: 'release',
    key: reader.string(),
    owner: reader.string(),
    mode: readMode(reader),
    token: reader.optionalNumber(),
    requestId: reader.optionalString(),
  }
}

function readCancel(reader: PackReader): Cancel {
  return {
    kind: 'cancel',
    key: reader.string(),
    owner: reader.string(),
    requestId: reader.optionalString(),
    reason: reader.optionalString() as CancelReason | undefined,
  }
}

function readBegin(reader: PackReader, ownSession: string): Begin {
  return {
    kind: 'begin',
    type: reader.string(),
    resource: reader.string(),
    node: reader.string(),
    version: reader.optionalString(),
    requestId: reader.optionalString(),
    ttlMs: reader.optionalNumber(),
    waitMs: readWait(reader),
    lane: reader.optionalString(),
    session: readSession(reader, ownSession),
    coordination: reader.optionalString() as Coordination | undefined,
    meta: reader.optionalString(),
  }
}

function readFinish(reader: PackReader): Finish {
  return {
    kind: 'finish',
    type: reader.string(),
    resource: reader.string(),
    node: reader.string(),
    success: reader.bool(),
    error: reader.optionalString(),
    value: reader.optionalString(),
    token: reader.optionalNumber(),
    requestId: reader.optionalString(),
    coordination: reader.optionalString() as Coordination | undefined,
  }
}

export function readMode(reader: PackReader): Mode | undefined {
  const code = reader.optionalNumber()
  if (code === undefined) return undefined
  if (code === 1) return 'write'
  if (code === 0) return 'read'
  throw new ProtocolError(`there is no mode ${code}`)
}

function readWait(reader: PackReader): number | undefined {
  const waitMs = reader.optionalNumber()
  return waitMs === FOREVER ? Number.POSITIVE_INFINITY : waitMs
}

/** The empty name is nobody's, so it says "this session". */
function readSession(reader: PackReader, ownSession: string): string | undefined {
  const session = reader.optionalString()
  return session === '' ? ownSession : session
}
