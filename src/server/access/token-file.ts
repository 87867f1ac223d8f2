import { DocumentError, parseDocument } from '../http/parse-document.ts'
import type { Principal } from './principal.ts'

/** A principal and the digests of the tokens that it may come with. */
export interface TokenEntry {
  readonly principal: Principal
  /** SHA-256; several while one token replaces another. */
  readonly digests: readonly Buffer[]
}

/** The name stands before every owner that the principal stores, so it takes from their length. */
const NAME = /^[A-Za-z0-9._-]{1,64}$/
const DIGEST = /^[0-9a-f]{64}$/i
const MEMBERS: ReadonlySet<string> = new Set(['name', 'role', 'prefixes', 'sha256'])

/** The principals of a tokens file, or a `DocumentError` that says which entry is wrong and how. */
export function parseTokenFile(file: string, text: string): readonly TokenEntry[] {
  const { tokens } = parseDocument(file, text)
  if (!Array.isArray(tokens) || tokens.length === 0) {
    throw new DocumentError(file, 'it needs a list "tokens" with at least one entry')
  }
  const names = new Set<string>()
  return tokens.map((raw: unknown, index) => {
    const entry = parseEntry(file, `entry ${index + 1}`, raw)
    const { name = '' } = entry.principal
    if (names.has(name)) throw new DocumentError(file, `the name ${name} stands there twice`)
    names.add(name)
    return entry
  })
}

function parseEntry(file: string, where: string, raw: unknown): TokenEntry {
  const refuse = (why: string): DocumentError => new DocumentError(file, `${where}: ${why}`)
  if (typeof raw !== 'object' || raw === null) throw refuse('it is not a table')
  const { name, role, prefixes, sha256 } = raw as Record<string, unknown>
  for (const member of Object.keys(raw)) {
    if (!MEMBERS.has(member)) throw refuse(`there is no member ${JSON.stringify(member)}`)
  }
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw refuse('name has to be 1 to 64 letters, digits, ".", "_" or "-"')
  }
  if (role !== 'client' && role !== 'admin') throw refuse('role has to be "client" or "admin"')
  const digests = typeof sha256 === 'string' ? [sha256] : sha256
  if (!isTexts(digests) || digests.length === 0 || !digests.every((one) => DIGEST.test(one))) {
    throw refuse('sha256 has to be the SHA-256 of a token in 64 hexadecimal digits, or a list')
  }
  return {
    principal: Object.freeze({ name, role, prefixes: parsePrefixes(prefixes, refuse) }),
    digests: digests.map((digest) => Buffer.from(digest, 'hex')),
  }
}

/** A prefix ends with a separator, because `team1` would give the right to the keys of `team10`. */
function parsePrefixes(
  prefixes: unknown,
  refuse: (why: string) => DocumentError,
): readonly string[] | undefined {
  if (prefixes === undefined) return undefined
  if (!isTexts(prefixes) || prefixes.length === 0) {
    throw refuse('prefixes has to be a list of texts; leave it out for all keys')
  }
  for (const prefix of prefixes) {
    if (prefix === '' || /[\p{L}\p{N}\p{Cs}]$/u.test(prefix)) {
      throw refuse(`the prefix ${JSON.stringify(prefix)} has to end with a separator such as "/"`)
    }
  }
  return Object.freeze([...prefixes])
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
