import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { headersOf, type JsonAnswer } from './exchange.ts'

/** Answers a request whose connection Node has handed over, and closes it. */
export function refuseUpgrade(
  { method }: IncomingMessage,
  socket: Duplex,
  answer: JsonAnswer,
): void {
  const { status, body } = answer
  const text = JSON.stringify(body)
  const headers = {
    ...headersOf(answer),
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  }
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  socket.on('error', () => {})
  socket.end(`${lines.join('\r\n')}\r\n\r\n${method === 'HEAD' ? '' : text}`)
}
