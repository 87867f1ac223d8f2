import {
  readClientFrame,
  readServerFrame,
  writeMessage,
} from '../../../src/wire/session/message-codec.ts'
import { PackWriter } from '../../../src/wire/session/pack-writer.ts'
import type {
  ClientMessage,
  ServerMessage,
  SessionMessage,
} from '../../../src/wire/session/session-message.ts'
import { OWN_SESSION } from './arbitrary-messages.ts'

/** A message with the number beside it. */
export type Heard<Message = SessionMessage> = readonly [number: number, message: Message]

export function write(...messages: readonly Heard[]): Uint8Array {
  const writer = new PackWriter()
  writer.ownSession = OWN_SESSION
  for (const [number, message] of messages) writeMessage(writer, number, message)
  return writer.take()
}

export function hearClient(frame: Uint8Array): Heard<ClientMessage>[] {
  const heard: Heard<ClientMessage>[] = []
  readClientFrame(frame, {
    ownSession: OWN_SESSION,
    receive: (number, message) => heard.push([number, message]),
  })
  return heard
}

export function hearServer(frame: Uint8Array): Heard<ServerMessage>[] {
  const heard: Heard<ServerMessage>[] = []
  readServerFrame(frame, {
    ownSession: OWN_SESSION,
    receive: (number, message) => heard.push([number, message]),
  })
  return heard
}
