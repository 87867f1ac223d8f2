import type { Outcome, RefusalCode, Refused } from '../../law/outcomes.ts'
import { readMode, writeMode } from './command-codec.ts'
import { OUTCOME_OPS } from './message-codes.ts'
import type { PackReader } from './pack-reader.ts'
import type { PackWriter } from './pack-writer.ts'
import { ProtocolError } from './protocol-error.ts'

/** Outcomes, by their facts in a fixed order. A refusal has its facts in a map: it is rare and varied. */

const OPS = OUTCOME_OPS

export function writeOutcome(writer: PackWriter, id: number, outcome: Outcome): void {
  switch (outcome.kind) {
    case 'granted':
      writer.array(7)
      writer.number(OPS.granted)
      writer.number(id)
      writeMode(writer, outcome.mode)
      writer.number(outcome.token)
      writer.number(outcome.reads)
      writer.number(outcome.writes)
      return writer.number(outcome.leaseMs)
    case 'released':
      writer.array(4)
      writer.number(OPS.released)
      writer.number(id)
      writer.number(outcome.reads)
      return writer.number(outcome.writes)
    case 'refused':
      return writeRefused(writer, id, outcome)
    default:
      return writeRare(writer, id, outcome)
  }
}

type Rare = Exclude<Outcome, { kind: 'granted' | 'released' | 'refused' }>

function writeRare(writer: PackWriter, id: number, outcome: Rare): void {
  const facts = factsOf(outcome)
  writer.array(2 + facts.length)
  writer.number(OPS[outcome.kind])
  writer.number(id)
  for (const fact of facts) writer.value(fact)
}

function factsOf(outcome: Rare): readonly unknown[] {
  switch (outcome.kind) {
    case 'queued':
      return [outcome.position]
    case 'skip':
      return [outcome.value]
    case 'dissolved':
      return [outcome.node]
    case 'renewed':
      return [outcome.token, outcome.leaseMs]
    case 'cancelled':
      return [outcome.cancelled]
    case 'finished':
      return [outcome.success]
    case 'forced':
    case 'swept':
      return [outcome.count]
    case 'unreferenced':
      return [outcome.removed, outcome.count]
    case 'session-opened':
      return [outcome.resumed]
    case 'session-touched':
      return []
    case 'session-closed':
      return [outcome.ended]
  }
}

function writeRefused(writer: PackWriter, id: number, outcome: Refused): void {
  const { kind, code, ...facts } = outcome
  writer.array(4)
  writer.number(OPS[kind])
  writer.number(id)
  writer.string(code)
  writer.value(facts)
}

/** The outcome of a message, or `undefined` if its code is none of an outcome's. */
export function readOutcome(op: number, reader: PackReader): Outcome | undefined {
  switch (op) {
    case OPS.granted:
      return {
        kind: 'granted',
        mode: readMode(reader) ?? missing('mode'),
        token: reader.number(),
        reads: reader.number(),
        writes: reader.number(),
        leaseMs: reader.number(),
      }
    case OPS.released:
      return { kind: 'released', reads: reader.number(), writes: reader.number() }
    case OPS.refused:
      return readRefused(reader)
    default:
      return readRare(op, reader)
  }
}

function readRare(op: number, reader: PackReader): Outcome | undefined {
  switch (op) {
    case OPS.queued:
      return { kind: 'queued', position: reader.number() }
    case OPS.skip:
      return { kind: 'skip', value: reader.optionalString() }
    case OPS.dissolved:
      return { kind: 'dissolved', node: reader.string() }
    case OPS.renewed:
      return { kind: 'renewed', token: reader.number(), leaseMs: reader.number() }
    case OPS.cancelled:
      return { kind: 'cancelled', cancelled: reader.bool() }
    case OPS.finished:
      return { kind: 'finished', success: reader.bool() }
    case OPS.forced:
      return { kind: 'forced', count: reader.number() }
    case OPS.swept:
      return { kind: 'swept', count: reader.number() }
    case OPS.unreferenced:
      return { kind: 'unreferenced', removed: reader.number(), count: reader.number() }
    case OPS['session-opened']:
      return { kind: 'session-opened', resumed: reader.bool() }
    case OPS['session-touched']:
      return { kind: 'session-touched' }
    case OPS['session-closed']:
      return { kind: 'session-closed', ended: reader.number() }
    default:
      return undefined
  }
}

function readRefused(reader: PackReader): Refused {
  const code = reader.string() as RefusalCode
  return { ...reader.record(), kind: 'refused', code } as Refused
}

function missing(field: string): never {
  throw new ProtocolError(`a ${field} is missing`)
}
