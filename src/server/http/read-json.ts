import type { IncomingMessage } from 'node:http'
import { badRequest, HttpError } from './http-error.ts'

/** Told once: what is wrong, or else the body. */
export type OnJson = (error: unknown, body?: unknown) => void

/**
 * The JSON of a request's body, at most `limitBytes` of it. A body that is longer is not read to its
 * end: the answer is sent at once and the connection closed after it.
 */
export function readJson(request: IncomingMessage, limitBytes: number, onJson: OnJson): void {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > limitBytes) onJson(tooLarge(limitBytes))
  else if (declared > 0) setImmediate(take, request, limitBytes, onJson)
  else collect(request, limitBytes, onJson)
}

/**
 * A body that came together with its head needs no listening: by now the parser has put all of it there.
 * Whatever else arrived in the same moment was parsed by now, too; to answer those requests in a row
 * wakes their clients up once and not over and over, which costs more than the answers.
 */
function take(request: IncomingMessage, limitBytes: number, onJson: OnJson): void {
  const isThere = request.readableLength === Number(request.headers['content-length'])
  const bytes = isThere ? (request.read() as Buffer | null) : null
  if (bytes === null) {
    collect(request, limitBytes, onJson)
    return
  }
  // Lets the stream come to its end.
  request.resume()
  parse(bytes, onJson)
}

function collect(request: IncomingMessage, limitBytes: number, onJson: OnJson): void {
  if (request.destroyed) {
    onJson(cutOff())
    return
  }
  const chunks: Buffer[] = []
  let bytes = 0
  let isOver = false
  const end = (error: unknown): void => {
    if (isOver) return
    isOver = true
    if (error === undefined) parse(Buffer.concat(chunks), onJson)
    else onJson(error)
  }
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= limitBytes) {
      chunks.push(chunk)
      return
    }
    request.removeAllListeners('data')
    request.pause()
    end(tooLarge(limitBytes))
  })
  request.on('end', () => end(undefined))
  request.on('error', () => end(cutOff()))
  request.on('aborted', () => end(cutOff()))
}

function parse(bytes: Buffer, onJson: OnJson): void {
  let body: unknown
  try {
    body = parseJson(bytes)
  } catch (error) {
    onJson(error)
    return
  }
  onJson(undefined, body)
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Text that is not UTF-8 is refused and not repaired: two keys must not become one. */
function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) return {}
  if (bytes.length > DEPTH_MAX && isDeep(bytes)) {
    throw new HttpError(400, 'bad_request', { message: 'the body is nested too deeply' })
  }
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch {
    throw badRequest('body', 'is not JSON in UTF-8')
  }
}

/** Deeper than any body of ours, and far from what would exhaust the stack. */
const DEPTH_MAX = 64

/** Brackets inside of texts count for nothing; what is no JSON at all is found by the parser. */
function isDeep(bytes: Uint8Array): boolean {
  let depth = 0
  let isText = false
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index]
    if (byte === QUOTE) isText = !isText
    else if (byte === BACKSLASH) index += 1
    else if (isText) continue
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1
    if (depth > DEPTH_MAX) return true
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

function tooLarge(limitBytes: number): HttpError {
  return new HttpError(413, 'too_large', {
    message: `the body is longer than ${limitBytes} bytes`,
    details: { limit: limitBytes },
    headers: { connection: 'close' },
  })
}

function cutOff(): HttpError {
  return new HttpError(400, 'bad_request', { message: 'the body was cut off' })
}
