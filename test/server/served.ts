import { createHash } from 'node:crypto'
import type { LockEngine } from '../../src/engine/engine.ts'
import { parseTokenFile, type TokenEntry } from '../../src/server/access/token-file.ts'
import { LockServer, type LockServerOptions } from '../../src/server/lock-server.ts'
import { assertDescribed } from './openapi/described-answers.ts'
import { openTestEngine } from './test-engine.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Record<string, unknown>
}

export interface CallOptions {
  readonly method?: string
  readonly body?: unknown
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** A server on an engine of its own, and how to call it. */
export interface Served {
  readonly server: LockServer
  readonly engine: LockEngine
  call(path: string, options?: CallOptions): Promise<Answer>
  /** A POST. */
  post(path: string, body: unknown, token?: string): Promise<Answer>
  close(): Promise<void>
}

export async function serve(options: Partial<LockServerOptions> = {}): Promise<Served> {
  const engine =
    options.engine ?? (await openTestEngine({ settings: options.settings, history: true }))
  const server = await LockServer.open({ ...options, engine })
  const call = async (path: string, given: CallOptions = {}): Promise<Answer> => {
    const { method = given.body === undefined ? 'GET' : 'POST', body, token, headers = {} } = given
    const response = await fetch(server.url + path, {
      method,
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(given.signal === undefined ? {} : { signal: given.signal }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type') === 'application/json'
    const answer = {
      status: response.status,
      headers: response.headers,
      body: isJson ? (JSON.parse(text) as Record<string, unknown>) : { text },
    }
    assertDescribed({ method, path, ...answer })
    return answer
  }
  return {
    server,
    engine,
    call,
    post: (path, body, token) => call(path, { body, token }),
    async close() {
      await server.close()
      await engine.close()
    },
  }
}

/** As `parseTokenFile` reads them; the token of `alice` is `alice-token`. */
export function tokensFor(
  ...entries: readonly {
    readonly name: string
    readonly role?: 'client' | 'admin'
    readonly prefixes?: readonly string[]
  }[]
): readonly TokenEntry[] {
  const tokens = entries.map(({ name, role = 'client', prefixes }) => ({
    name,
    role,
    prefixes,
    sha256: sha256(`${name}-token`),
  }))
  return parseTokenFile('tokens.json', JSON.stringify({ tokens }))
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
