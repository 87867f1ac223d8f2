import { type FieldType, MESSAGE_TABLE, SERVER_CODE_MIN } from './message-table.ts'
import { PackReader } from './pack-reader.ts'
import type { PackWriter } from './pack-writer.ts'
import { ProtocolError } from './protocol-error.ts'
import type { ClientMessage, ServerMessage, SessionMessage } from './session-message.ts'

/** A row of the table, ready for use. The arrays go together: one place each for every field. */
interface Layout {
  readonly kind: SessionMessage['kind']
  readonly code: number
  readonly names: readonly string[]
  readonly types: readonly FieldType[]
  readonly isOptional: readonly boolean[]
  /** A message with every field absent: copies of it all have the same shape. */
  readonly empty: Readonly<Record<string, unknown>>
}

const LAYOUTS = Object.entries(MESSAGE_TABLE).map(([kind, [code, fields]]) =>
  toLayout(kind as SessionMessage['kind'], code, fields),
)
const BY_KIND = Object.fromEntries(LAYOUTS.map((layout) => [layout.kind, layout]))
const BY_CODE: (Layout | undefined)[] = []
for (const layout of LAYOUTS) BY_CODE[layout.code] = layout

/** The head of a message: its code and its number. */
const HEAD = 2
const FOREVER = -1

/** Write one message. Fields at the end that are absent take no room. */
export function writeMessage(writer: PackWriter, number: number, message: SessionMessage): void {
  const { code, names, types } = BY_KIND[message.kind] as Layout
  const values = message as unknown as Readonly<Record<string, unknown>>
  let count = names.length
  while (count > 0 && values[names[count - 1] as string] === undefined) count -= 1
  writer.array(HEAD + count)
  writer.number(code)
  writer.number(number)
  for (let index = 0; index < count; index += 1) {
    const value = values[names[index] as string]
    if (value === undefined) writer.nil()
    else writeField(writer, types[index] as FieldType, value)
  }
}

function writeField(writer: PackWriter, type: FieldType, value: unknown): void {
  switch (type) {
    case 'text':
      return writer.text(value as string)
    case 'number':
      return writer.number(value as number)
    case 'flag':
      return writer.bool(value as boolean)
    case 'mode':
      return writer.number(value === 'write' ? 1 : 0)
    case 'wait':
      return writer.number(value === Number.POSITIVE_INFINITY ? FOREVER : (value as number))
    case 'session':
      return writer.text(value === writer.ownSession ? '' : (value as string))
    case 'json':
      return writer.text(JSON.stringify(value))
  }
}

/** Told what is in a frame, message by message, in order. */
export interface FrameReceiver<Message> {
  /** The session that an empty name means. */
  readonly ownSession: string
  receive(number: number, message: Message): void
}

/** Throws a `ProtocolError` at the first message that makes no sense; those before it were received. */
export function readClientFrame(bytes: Uint8Array, receiver: FrameReceiver<ClientMessage>): void {
  const reader = new PackReader(bytes)
  while (!reader.isAtEnd) readMessage(reader, 0, receiver as FrameReceiver<SessionMessage>)
}

export function readServerFrame(bytes: Uint8Array, receiver: FrameReceiver<ServerMessage>): void {
  const reader = new PackReader(bytes)
  while (!reader.isAtEnd) {
    readMessage(reader, SERVER_CODE_MIN, receiver as FrameReceiver<SessionMessage>)
  }
}

/** Types are checked here. Whether the values make sense is what every engine asks before anything else. */
function readMessage(
  reader: PackReader,
  codeMin: number,
  receiver: FrameReceiver<SessionMessage>,
): void {
  const length = reader.array()
  const code = reader.number()
  const layout = BY_CODE[code]
  const isTheirs = code >= SERVER_CODE_MIN === codeMin >= SERVER_CODE_MIN
  if (layout === undefined || !isTheirs) throw new ProtocolError(`there is no message ${code}`)
  const number = reader.number()
  const { names, types, isOptional } = layout
  const message: Record<string, unknown> = { ...layout.empty }
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string
    if (index + HEAD < length && !reader.nil()) {
      message[name] = readField(reader, types[index] as FieldType, receiver.ownSession)
    } else if (!isOptional[index]) {
      throw new ProtocolError(`${layout.kind} needs ${name}`)
    }
  }
  for (let index = HEAD + names.length; index < length; index += 1) reader.skip()
  receiver.receive(number, message as unknown as SessionMessage)
}

function readField(reader: PackReader, type: FieldType, ownSession: string): unknown {
  switch (type) {
    case 'text':
      return reader.text()
    case 'number':
      return reader.number()
    case 'flag':
      return reader.bool()
    case 'mode':
      return reader.number() === 1 ? 'write' : 'read'
    case 'wait': {
      const waitMs = reader.number()
      return waitMs === FOREVER ? Number.POSITIVE_INFINITY : waitMs
    }
    case 'session': {
      const session = reader.text()
      return session === '' ? ownSession : session
    }
    case 'json':
      return parseJson(reader.text())
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ProtocolError('a field is not JSON')
  }
}

function toLayout(
  kind: SessionMessage['kind'],
  code: number,
  fields: Readonly<Record<string, string>>,
): Layout {
  const names = Object.keys(fields)
  const types = Object.values(fields)
  return {
    kind,
    code,
    names,
    types: types.map((type) => type.replace('?', '') as FieldType),
    isOptional: types.map((type) => type.endsWith('?')),
    empty: { kind, ...Object.fromEntries(names.map((name) => [name, undefined])) },
  }
}
