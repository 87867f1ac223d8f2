import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { HttpError } from '../http/http-error.ts'
import { Credential } from './credential.ts'
import type { TokenEntry } from './token-file.ts'

/** The message to a client whose token was taken away under what it has begun. */
export const REVOKED = 'this token is not known any more'

const BEARER = /^Bearer +([\x21-\x7e]+) *$/i

interface Known {
  readonly digest: Buffer
  readonly credential: Credential
}

/** Who a bearer token belongs to. The tokens can be replaced while requests come in. */
export class Authenticator {
  #known: readonly Known[] = []
  #names: ReadonlySet<string> = new Set()

  constructor(entries: readonly TokenEntry[]) {
    this.replace(entries)
  }

  /** A token whose rights did not change stays the same credential; every other one is revoked. */
  replace(entries: readonly TokenEntry[]): void {
    const before = new Map(this.#known.map((one) => [keyOf(one), one]))
    this.#known = entries.flatMap(({ principal, digests }) =>
      digests.map((digest) => {
        const known = { digest, credential: new Credential(principal) }
        return before.get(keyOf(known)) ?? known
      }),
    )
    this.#names = new Set(entries.map(({ principal }) => principal.name ?? ''))
    for (const one of this.#known) before.delete(keyOf(one))
    for (const { credential } of before.values()) credential.revoke()
  }

  get names(): ReadonlySet<string> {
    return this.#names
  }

  /** Throws the 401 of a request that says nothing, or nothing true, about who sends it. */
  authenticate(request: IncomingMessage): Credential {
    const token = BEARER.exec(request.headers.authorization ?? '')?.[1]
    if (token === undefined) throw unauthorized('a bearer token is needed')
    const credential = this.#find(createHash('sha256').update(token).digest())
    if (credential === undefined) throw unauthorized('this token is not known')
    return credential
  }

  /** Every digest is looked at, so that the time it takes says nothing about any of them. */
  #find(sought: Buffer): Credential | undefined {
    let found: Credential | undefined
    for (const { digest, credential } of this.#known) {
      if (timingSafeEqual(digest, sought)) found = credential
    }
    return found
  }
}

function keyOf({ digest, credential }: Known): string {
  const { name, role, prefixes } = credential.principal
  return JSON.stringify([digest.toString('hex'), name, role, prefixes])
}

/** Also for what was begun by a token that has been revoked. */
export function unauthorized(message: string): HttpError {
  return new HttpError(401, 'unauthorized', {
    message,
    headers: { 'www-authenticate': 'Bearer realm="holdfast"' },
  })
}
