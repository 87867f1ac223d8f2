import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'

/** A key pair with a certificate, as PEM texts. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

export interface CertificateOptions {
  readonly name: string
  /** Who signs it; itself where absent, and then it may sign others. */
  readonly issuer?: { readonly name: string; readonly privateKey: KeyObject } | undefined
  /** The host that shows it; `localhost` and 127.0.0.1 where absent. */
  readonly host?: string | undefined
}

export interface MadeCertificate extends Certificate {
  readonly name: string
  readonly privateKey: KeyObject
}

const YEAR_MS = 365 * 86_400_000
const BASIC_CONSTRAINTS = '2.5.29.19'
const ALTERNATIVE_NAME = '2.5.29.17'
const ECDSA_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'))

/** A positive number without leading zeros: DER allows one way to write a number. */
function createSerial(): Buffer {
  const serial = randomBytes(8)
  serial.writeUInt8((serial.readUInt8(0) & 0x3f) | 0x40, 0)
  return serial
}

/** A certificate, made here because tests keep no private keys. */
export function makeCertificate({ name, issuer, host }: CertificateOptions): MadeCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const addresses = sequence(
    tagged(0x82, Buffer.from(host ?? 'localhost')),
    ...(host === undefined ? [tagged(0x87, Buffer.from([127, 0, 0, 1]))] : []),
  )
  const isAuthority = issuer === undefined
  const extensions = [
    sequence(
      objectId(BASIC_CONSTRAINTS),
      tagged(0x04, isAuthority ? sequence(tagged(0x01, Buffer.from([0xff]))) : sequence()),
    ),
    sequence(objectId(ALTERNATIVE_NAME), tagged(0x04, addresses)),
  ]
  const nowMs = Date.now()
  const content = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(createSerial()),
    ECDSA_SHA256,
    commonName(issuer?.name ?? name),
    sequence(time(nowMs - YEAR_MS), time(nowMs + YEAR_MS)),
    commonName(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(...extensions)),
  )
  const signature = createSign('sha256')
    .update(content)
    .sign(issuer?.privateKey ?? privateKey)
  const bits = tagged(0x03, Buffer.concat([Buffer.from([0]), signature]))
  return {
    name,
    privateKey,
    cert: toPem(sequence(content, ECDSA_SHA256, bits)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

function toPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts))
}

/** A leading zero keeps it positive. */
function integer(bytes: Buffer): Buffer {
  return tagged(
    0x02,
    Buffer.concat([Buffer.from([0]), bytes]).subarray((bytes[0] ?? 0) < 0x80 ? 1 : 0),
  )
}

function objectId(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  const bytes = rest.flatMap((number) => {
    const groups = [number & 0x7f]
    for (let left = number >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80)
    return groups
  })
  return tagged(0x06, Buffer.from([first * 40 + second, ...bytes]))
}

function commonName(name: string): Buffer {
  return sequence(tagged(0x31, sequence(objectId('2.5.4.3'), tagged(0x0c, Buffer.from(name)))))
}

function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)
  return tagged(0x17, Buffer.from(`${text}Z`))
}
