import type { Capabilities } from '../../engine/capabilities.ts'
import type { WatchEvent } from '../../engine/engine.ts'
import type { HoldEnd, Namespace } from '../../law/view.ts'
import { OUTCOME_OPS, SERVER_OPS } from './message-codes.ts'
import { readOutcome } from './outcome-codec.ts'
import { PackReader } from './pack-reader.ts'
import type { PackWriter } from './pack-writer.ts'
import { ProtocolError } from './protocol-error.ts'
import type { Failure, Lost, ServerFrameHandler, Welcome } from './server-message.ts'

/** What a server writes, apart from outcomes, and how a client reads all of it. */

const OPS = SERVER_OPS

export function writeWelcome(writer: PackWriter, welcome: Welcome): void {
  writer.array(9)
  writer.number(OPS.welcome)
  writer.number(welcome.version)
  writer.string(welcome.session)
  writer.number(welcome.graceMs)
  writer.number(welcome.heartbeatMs)
  writer.bool(welcome.resumed)
  writer.bool(welcome.kept)
  writer.number(welcome.lastId)
  writer.value(welcome.capabilities)
}

export function writeFrameNumber(writer: PackWriter, number: number): void {
  writer.array(2)
  writer.number(OPS.frame)
  writer.number(number)
}

export function writeBeat(writer: PackWriter, sentAtMs: number): void {
  writer.array(2)
  writer.number(OPS.beat)
  writer.number(sentAtMs)
}

export function writeFailure(writer: PackWriter, id: number, failure: Failure): void {
  writer.array(6)
  writer.number(OPS.error)
  writer.number(id)
  writer.string(failure.code)
  writer.string(failure.message)
  writer.bool(failure.applied === 'maybe')
  writer.value(failure.details)
}

export function writeReply(writer: PackWriter, id: number, reply: unknown): void {
  writer.array(3)
  writer.number(OPS.reply)
  writer.number(id)
  writer.value(reply)
}

export function writeDone(writer: PackWriter, id: number): void {
  writer.array(2)
  writer.number(OPS.done)
  writer.number(id)
}

export function writeEvent(writer: PackWriter, watch: number, event: WatchEvent): void {
  writer.array(3)
  writer.number(OPS.event)
  writer.number(watch)
  writer.value(event)
}

export function writeLost(writer: PackWriter, lost: Lost): void {
  writer.array(6)
  writer.number(OPS.lost)
  writer.string(lost.namespace)
  writer.string(lost.key)
  writer.string(lost.owner)
  writer.number(lost.token)
  writer.string(lost.end)
}

export function writeOver(writer: PackWriter): void {
  writer.array(1)
  writer.number(OPS.over)
}

export function writeComeBack(writer: PackWriter, lastId: number | undefined): void {
  writer.array(2)
  writer.number(OPS.comeBack)
  writer.optionalNumber(lastId)
}

/** Tell the handler of every message. Throws a `ProtocolError` at the first that makes no sense. */
export function readServerFrame(bytes: Uint8Array, handler: ServerFrameHandler): void {
  const reader = new PackReader(bytes)
  while (!reader.isAtEnd) {
    const op = reader.open()
    if (op >= OUTCOME_OPS.granted) readAnswer(op, reader, handler)
    else if (op === OPS.frame) {
      if (!handler.frame(reader.number())) return
    } else readOther(op, reader, handler)
    reader.close()
  }
}

function readAnswer(op: number, reader: PackReader, handler: ServerFrameHandler): void {
  const id = reader.number()
  const outcome = readOutcome(op, reader)
  if (outcome === undefined) throw new ProtocolError(`there is no message ${op}`)
  handler.outcome(id, outcome)
}

function readOther(op: number, reader: PackReader, handler: ServerFrameHandler): void {
  switch (op) {
    case OPS.welcome:
      return handler.welcome(readWelcome(reader))
    case OPS.beat:
      return handler.beat(reader.number())
    case OPS.error:
      return handler.failure(reader.number(), readFailure(reader))
    case OPS.reply:
      return handler.reply(reader.number(), reader.any())
    case OPS.done:
      return handler.done(reader.number())
    case OPS.event:
      return handler.event(reader.number(), reader.record() as unknown as WatchEvent)
    case OPS.lost:
      return handler.lost({
        namespace: reader.string() as Namespace,
        key: reader.string(),
        owner: reader.string(),
        token: reader.number(),
        end: reader.string() as HoldEnd,
      })
    case OPS.over:
      return handler.over()
    case OPS.comeBack:
      return handler.comeBack(reader.optionalNumber())
    default:
      throw new ProtocolError(`there is no message ${op}`)
  }
}

function readWelcome(reader: PackReader): Welcome {
  return {
    version: reader.number(),
    session: reader.string(),
    graceMs: reader.number(),
    heartbeatMs: reader.number(),
    resumed: reader.bool(),
    kept: reader.bool(),
    lastId: reader.number(),
    capabilities: reader.record() as unknown as Capabilities,
  }
}

function readFailure(reader: PackReader): Failure {
  return {
    code: reader.string(),
    message: reader.string(),
    applied: reader.bool() ? 'maybe' : 'no',
    details: reader.record(),
  }
}
