import { readClientFrame } from '../../../src/protocol/session/client-frames.ts'
import type { ClientFrameHandler } from '../../../src/protocol/session/client-message.ts'
import { PackWriter } from '../../../src/protocol/session/pack-writer.ts'
import { readServerFrame } from '../../../src/protocol/session/server-frames.ts'
import type { ServerFrameHandler } from '../../../src/protocol/session/server-message.ts'
import { OWN_SESSION } from './arbitrary-messages.ts'

/** What a reader was told: the name of each message and what came with it. */
export type Heard = readonly [name: string, ...facts: unknown[]]

export function write(...messages: ((writer: PackWriter) => void)[]): Uint8Array {
  const writer = new PackWriter()
  for (const message of messages) message(writer)
  return writer.take()
}

/** A handler that notes whatever it is told. */
function createNotes(answer: unknown): { readonly heard: Heard[]; readonly handler: object } {
  const heard: Heard[] = []
  const handler = new Proxy(
    {},
    {
      get: (_, name) =>
        name === 'ownSession'
          ? OWN_SESSION
          : (...facts: unknown[]) => {
              heard.push([String(name), ...facts])
              return answer
            },
    },
  )
  return { heard, handler }
}

export function hearClient(frame: Uint8Array): Heard[] {
  const { heard, handler } = createNotes(undefined)
  readClientFrame(frame, handler as ClientFrameHandler)
  return heard
}

export function hearServer(frame: Uint8Array): Heard[] {
  const { heard, handler } = createNotes(true)
  readServerFrame(frame, handler as ServerFrameHandler)
  return heard
}
