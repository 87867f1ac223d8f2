import { X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { createError } from '../../engine/errors/errors.ts'

/** Whom a client of a lock server trusts over `https:`, and what it shows of itself. */
export interface TlsOptions {
  /**
   * The authorities that may have signed the server's certificate, as PEM text, in place of the
   * well-known ones. Default: those, and what `NODE_EXTRA_CA_CERTS` names.
   */
  readonly ca?: string | undefined
  /** A certificate of this client, as PEM text, for servers that ask for one. Needs its `key`. */
  readonly cert?: string | undefined
  /** The private key of `cert`, as PEM text. */
  readonly key?: string | undefined
}

/** Only what was given, checked: text that is no certificate would otherwise only show as a lack of trust. */
export function parseTlsOptions({ ca, cert, key }: TlsOptions): TlsOptions {
  if (ca !== undefined) assertCertificate('ca', ca)
  if (cert !== undefined) assertCertificate('cert', cert)
  if (cert !== undefined && key === undefined) throw refuse('key', 'cert needs its key')
  if (cert === undefined && key !== undefined) throw refuse('cert', 'key needs its cert')
  try {
    createSecureContext({ cert, key })
  } catch (cause) {
    throw refuse('key', 'key does not fit the certificate, or is not PEM text', cause)
  }
  return Object.freeze({
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert, key }),
  })
}

function assertCertificate(option: string, text: string): void {
  try {
    if (typeof text !== 'string') throw new TypeError('not a text')
    void new X509Certificate(text)
  } catch (cause) {
    throw refuse(option, `${option} has to be PEM text (-----BEGIN CERTIFICATE-----)`, cause)
  }
}

/** No part of a key is repeated in an error. */
function refuse(option: string, message: string, cause?: unknown): Error {
  return createError('LOCK_INVALID_ARGUMENT', message, { details: { option }, cause })
}
