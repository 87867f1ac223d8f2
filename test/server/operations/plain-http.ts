import { type Agent, request } from 'node:http'
import { assertDescribed } from '../openapi/described-answers.ts'

export interface AskOptions {
  readonly headers?: Record<string, string>
  readonly agent?: Agent
  readonly signal?: AbortSignal
}

export interface Question extends AskOptions {
  readonly method: string
  readonly path: string
  /** A string is sent as it is. */
  readonly body?: unknown
}

export interface Answer {
  readonly status: number
  readonly text: string
  /** The parsed text; `undefined` where it is not JSON. */
  readonly body: Record<string, unknown>
  readonly headers: Record<string, unknown>
}

/** One request and its answer, with nothing in between that would help. */
export async function ask(url: string, question: Question): Promise<Answer> {
  const answer = await send(url, question)
  const { method, path } = question
  const body = answer.text.startsWith('{') ? JSON.parse(answer.text) : answer.text
  assertDescribed({ method, path, status: answer.status, body })
  return answer
}

function send(url: string, question: Question): Promise<Answer> {
  const { method, path, body, headers = {}, agent, signal } = question
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const asking = request(new URL(path, url), {
      method,
      agent: agent ?? false,
      headers: {
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(signal === undefined ? {} : { signal }),
    })
    asking.on('error', reject)
    asking.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const received = Buffer.concat(chunks).toString()
        resolve({
          status: response.statusCode ?? 0,
          text: received,
          body: parse(received),
          headers: response.headers,
        })
      })
    })
    asking.end(text)
  })
}

function parse(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    return undefined as unknown as Record<string, unknown>
  }
}
