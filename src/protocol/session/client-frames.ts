import type { WatchFilter } from '../../engine/engine.ts'
import type { Query } from '../../engine/queries.ts'
import type { ClientFrameHandler, Heartbeat, Hello } from './client-message.ts'
import { readCommand } from './command-codec.ts'
import { CLIENT_OPS, COMMAND_OPS } from './message-codes.ts'
import { PackReader } from './pack-reader.ts'
import type { PackWriter } from './pack-writer.ts'
import { ProtocolError } from './protocol-error.ts'

/** What a client writes, apart from commands, and how a server reads all of it. */

const OPS = CLIENT_OPS

export function writeHello(writer: PackWriter, hello: Hello): void {
  writer.array(6)
  writer.number(OPS.hello)
  writer.number(hello.version)
  writer.string(hello.client)
  writer.optionalString(hello.session)
  writer.number(hello.received)
  writer.bool(hello.pulse)
}

export function writeHeartbeat(writer: PackWriter, heartbeat: Heartbeat): void {
  writer.array(3)
  writer.number(OPS.heartbeat)
  writer.number(heartbeat.sentAtMs)
  writer.number(heartbeat.received)
}

export function writeReceived(writer: PackWriter, frame: number): void {
  writer.array(2)
  writer.number(OPS.received)
  writer.number(frame)
}

export function writeGoodbye(writer: PackWriter): void {
  writer.array(1)
  writer.number(OPS.goodbye)
}

export function writeAbort(writer: PackWriter, id: number): void {
  writer.array(2)
  writer.number(OPS.abort)
  writer.number(id)
}

export function writeRead(writer: PackWriter, id: number, query: Query): void {
  writer.array(3)
  writer.number(OPS.read)
  writer.number(id)
  writer.value(query)
}

export function writeWatch(writer: PackWriter, id: number, filter: WatchFilter): void {
  writer.array(4)
  writer.number(OPS.watch)
  writer.number(id)
  writer.optionalString(filter.prefix)
  writer.optionalString(filter.namespace)
}

export function writeUnwatch(writer: PackWriter, id: number, watch: number): void {
  writer.array(3)
  writer.number(OPS.unwatch)
  writer.number(id)
  writer.number(watch)
}

/** Tell the handler of every message. Throws a `ProtocolError` at the first that makes no sense. */
export function readClientFrame(bytes: Uint8Array, handler: ClientFrameHandler): void {
  const reader = new PackReader(bytes)
  while (!reader.isAtEnd) {
    const op = reader.open()
    if (op >= COMMAND_OPS.acquire) readRequest(op, reader, handler)
    else readOther(op, reader, handler)
    reader.close()
  }
}

function readRequest(op: number, reader: PackReader, handler: ClientFrameHandler): void {
  const id = reader.number()
  const command = readCommand(op, reader, handler.ownSession)
  if (command === undefined) throw new ProtocolError(`there is no message ${op}`)
  const mayAbort = command.kind === 'acquire' || command.kind === 'begin'
  handler.command(id, command, mayAbort && reader.optionalBool() === true)
}

function readOther(op: number, reader: PackReader, handler: ClientFrameHandler): void {
  switch (op) {
    case OPS.hello:
      return handler.hello({
        version: reader.number(),
        client: reader.string(),
        session: reader.optionalString(),
        received: reader.optionalNumber() ?? 0,
        pulse: reader.optionalBool() ?? false,
      })
    case OPS.heartbeat:
      return handler.heartbeat({
        sentAtMs: reader.number(),
        received: reader.optionalNumber() ?? 0,
      })
    case OPS.received:
      return handler.received(reader.number())
    case OPS.goodbye:
      return handler.goodbye()
    case OPS.abort:
      return handler.abort(reader.number())
    case OPS.read:
      return handler.read(reader.number(), reader.record() as unknown as Query)
    case OPS.watch:
      return handler.watch(reader.number(), {
        prefix: reader.optionalString(),
        namespace: reader.optionalString() as WatchFilter['namespace'],
      })
    case OPS.unwatch:
      return handler.unwatch(reader.number(), reader.number())
    default:
      throw new ProtocolError(`there is no message ${op}`)
  }
}
