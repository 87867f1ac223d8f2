import type { ErrorCode } from '../engine/errors/error-catalogue.ts'

/** Why the two ends of a TLS connection do not have each other, and what to do about it. */
export interface TlsFailure {
  readonly code: ErrorCode
  readonly message: string
}

/** What OpenSSL calls a certificate that it cannot trace to an authority that it knows. */
const UNKNOWN_AUTHORITY: ReadonlySet<unknown> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'INVALID_CA',
])

const OTHER_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "the server's certificate has expired; it needs a new one",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet; see the clocks of both machines",
  ERR_TLS_CERT_ALTNAME_INVALID:
    "the server's certificate is for another name; connect by one that is in it",
}

/** What a server says that does not accept a client's certificate, or the lack of one. */
const NO_CERTIFICATE =
  /^ERR_SSL_(?:TLSV1_ALERT_UNKNOWN_CA|(?:TLSV13|SSLV3)_ALERT_(?:CERTIFICATE_[A-Z]+|BAD_CERTIFICATE))$/

/** Nothing where an error has another reason. Trying again changes none of these. */
export function describeTlsFailure(error: unknown): TlsFailure | undefined {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (UNKNOWN_AUTHORITY.has(code)) {
    const what = `the server's certificate is not signed by an authority that is trusted here (${code})`
    const message = `${what}; give the server's as \`ca\`, or with --ca FILE on the command line`
    return { code: 'LOCK_SERVER_UNTRUSTED', message }
  }
  const other = Object.hasOwn(OTHER_FAULTS, code) ? OTHER_FAULTS[code] : undefined
  if (other !== undefined) return { code: 'LOCK_SERVER_UNTRUSTED', message: `${other} (${code})` }
  if (!NO_CERTIFICATE.test(code)) return undefined
  const what = `the server asks for a client certificate that its authority has signed (${code})`
  const message = `${what}; give \`cert\` and \`key\`, or --client-cert and --client-key on the command line`
  return { code: 'LOCK_FORBIDDEN', message }
}

const HUNG_UP: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE'])

/**
 * A server that does not accept a client's certificate says nothing, but hangs up. So does one that is just
 * being restarted: it is a guess for a client that has shown a certificate and was not answered.
 */
export function explainHangUp(error: Error, tls: { readonly cert?: unknown } | undefined): Error {
  const code = 'code' in error ? error.code : undefined
  if (tls?.cert === undefined || !HUNG_UP.has(code)) return error
  const message =
    'it hung up without an answer; if it asks for client certificates, its authority may not have ' +
    `signed this one (\`cert\`, --client-cert) (${error.message})`
  return Object.assign(new Error(message, { cause: error }), { code })
}
