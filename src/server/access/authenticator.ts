import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { HttpError } from '../http/http-error.ts'
import type { Principal } from './principal.ts'
import type { TokenEntry } from './token-file.ts'

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i

/** Who a bearer token belongs to. The tokens can be replaced while requests come in. */
export class Authenticator {
  #entries: readonly TokenEntry[] = []
  #names: ReadonlySet<string> = new Set()

  constructor(entries: readonly TokenEntry[]) {
    this.replace(entries)
  }

  /** A principal whose rights did not change stays the same object. */
  replace(entries: readonly TokenEntry[]): void {
    const before = new Map(this.#entries.map(({ principal }) => [keyOf(principal), principal]))
    this.#entries = entries.map(({ principal, digests }) => ({
      principal: before.get(keyOf(principal)) ?? principal,
      digests,
    }))
    this.#names = new Set(entries.map(({ principal }) => principal.name ?? ''))
  }

  get names(): ReadonlySet<string> {
    return this.#names
  }

  /** Throws the 401 of a request that says nothing, or nothing true, about who sends it. */
  authenticate(request: IncomingMessage): Principal {
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined) throw unauthorized('a bearer token is needed')
    const principal = this.#find(createHash('sha256').update(token).digest())
    if (principal === undefined) throw unauthorized('this token is not known')
    return principal
  }

  /** Every digest is looked at, so that the time it takes says nothing about any of them. */
  #find(digest: Buffer): Principal | undefined {
    let found: Principal | undefined
    for (const { principal, digests } of this.#entries) {
      for (const known of digests) if (timingSafeEqual(known, digest)) found = principal
    }
    return found
  }
}

function keyOf({ name, role, prefixes }: Principal): string {
  return JSON.stringify([name, role, prefixes])
}

function unauthorized(message: string): HttpError {
  return new HttpError(401, 'unauthorized', {
    message,
    headers: { 'www-authenticate': 'Bearer realm="holdfast"' },
  })
}
