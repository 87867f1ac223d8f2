import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { LogThrottle } from '../observe/log-throttle.ts'
import type { ServerContext } from '../server-context.ts'
import { PATIENCE, type Patience } from '../server-limits.ts'
import { Connections } from './connections.ts'
import { countHosts } from './count-hosts.ts'
import { type JsonAnswer, sendJson } from './exchange.ts'
import { PatientRequest } from './patient-request.ts'
import { refuseUpgrade } from './refuse-upgrade.ts'

/** What a server shows of itself, and whom it lets in, on an encrypted connection: PEM texts. */
export interface TlsMaterial {
  readonly cert: string
  readonly key: string
  /** Clients need a certificate that one of these has signed. */
  readonly ca?: string | undefined
}

export interface ListenerOptions {
  readonly context: Pick<ServerContext, 'limits' | 'metrics' | 'log' | 'socketClock' | 'unsent'>
  readonly tls?: TlsMaterial | undefined
  readonly patience?: Patience | undefined
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void
  /** A WebSocket is asked for. Tells whether it was opened. */
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean
}

const HEADER_BYTES_MAX = 16 * 1024
/** Connections above the limit that are still answered, so that a client learns why. */
const REFUSED_MAX = 256

/**
 * The HTTP server with every bound that protects it from slow, greedy and malformed clients. Requests on
 * connections above the limit are told to come back.
 */
export function createListener(options: ListenerOptions): Server | TlsServer {
  const { patience = PATIENCE, tls } = options
  const { limits, metrics, log, socketClock, unsent } = options.context
  const throttle = new LogThrottle(() => socketClock.nowMs())
  const connections = new Connections({
    patience,
    metrics,
    max: limits.connections,
    handle: (request, response) => {
      if (connections.of(request.socket)?.isAbove === true) sendJson(response, TOO_MANY)
      else if (countHosts(request) > 1) sendJson(response, TWO_HOSTS)
      else options.onRequest(request, response)
    },
  })
  const settings = {
    headersTimeout: patience.headersMs,
    requestTimeout: patience.requestMs,
    connectionsCheckingInterval: patience.checkMs,
    keepAliveTimeout: patience.keepAliveMs,
    maxHeaderSize: HEADER_BYTES_MAX,
    insecureHTTPParser: false,
    noDelay: true,
    IncomingMessage: PatientRequest,
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    connections.of(request.socket)?.onRequest(request, response)
  }
  const server =
    tls === undefined
      ? createServer(settings, onRequest)
      : createTlsServer(
          { ...settings, handshakeTimeout: patience.headersMs, ...toTlsOptions(tls) },
          onRequest,
        )
  connections.follow(server)
  followed.set(server, connections)
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Duplex) => {
    unsent.watch(socket)
  })
  server.on('upgrade', (request, socket, head) => {
    const connection = connections.of(socket)
    if (connection === undefined || connection.isAnswering) socket.destroy()
    else if (connection.isAbove) refuseUpgrade(request, socket, TOO_MANY)
    else if (countHosts(request) > 1) refuseUpgrade(request, socket, TWO_HOSTS)
    else if (options.onUpgrade(request, socket, head)) connections.handOver(socket)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    metrics.malformed.inc()
    const reason = findStrangeness(error, socket)
    if (reason !== undefined && throttle.isOver(reason)) {
      log.warn('a client was not let in for its certificate', { reason })
    }
    const connection = connections.of(socket)
    // A handshake that has failed leaves nothing to answer on, and an open answer is another request's.
    if (connection === undefined || connection.isAnswering) socket.destroy()
    else answerMalformed(error, socket as Socket)
  })
  server.maxConnections = limits.connections + REFUSED_MAX
  server.on('drop', () => metrics.connectionsRefused.inc())
  return server
}

const followed = new WeakMap<Server | TlsServer, Connections>()

/** Cuts every connection, also those that have become sessions and that HTTP has forgotten. */
export function cutConnections(server: Server | TlsServer): void {
  followed.get(server)?.cut()
}

/** For a listener that already runs: connections that are open keep what they were opened with. */
export function replaceTls(server: Server | TlsServer, tls: TlsMaterial): void {
  if ('setSecureContext' in server) server.setSecureContext(toTlsOptions(tls))
}

function toTlsOptions({ cert, key, ca }: TlsMaterial): TlsOptions {
  const own = { cert, key, minVersion: 'TLSv1.2', ciphers: CIPHERS } as const
  return ca === undefined ? own : { ...own, ca, requestCert: true, rejectUnauthorized: true }
}

/** Suites with forward secrecy and authenticated encryption: all of TLS 1.3, and these of TLS 1.2. */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
].join(':')

interface TlsOptions {
  readonly cert: string
  readonly key: string
  readonly ciphers: string
  readonly minVersion: 'TLSv1.2'
  readonly ca?: string
  readonly requestCert?: boolean
  readonly rejectUnauthorized?: boolean
}

/**
 * Why a handshake ended, if it was for the client's certificate. All that such a client notices is that
 * the connection is closed, because that is what Node does.
 */
function findStrangeness({ code }: NodeJS.ErrnoException, socket: Duplex): string | undefined {
  if (code === 'ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE') return 'it has none'
  const reason: unknown = 'authorizationError' in socket ? socket.authorizationError : undefined
  return typeof reason === 'string' ? reason : undefined
}

const TOO_MANY: JsonAnswer = Object.freeze({
  status: 503,
  body: {
    error: 'there are too many connections; try again',
    code: 'limit',
    retryable: true,
    applied: 'no',
  },
  headers: { connection: 'close' },
})

const TWO_HOSTS: JsonAnswer = Object.freeze({
  status: 400,
  body: { error: 'a request has one Host header', code: 'bad_request' },
  headers: { connection: 'close' },
})

const MALFORMED: Readonly<Record<string, readonly [status: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request came too slowly'],
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the headers are too long'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Payload Too Large', 'the chunk extensions are too long'],
}

/** What was written before might be half an answer, and this would become a part of it. */
function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || socket.bytesWritten > 0 || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, message] = MALFORMED[error.code ?? ''] ?? ['400 Bad Request', 'this is not HTTP']
  const text = JSON.stringify({ error: message, code: 'bad_request' })
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${isHead(error) ? '' : text}`,
  )
}

/** A client that asks for the head of an answer takes a body for the beginning of the next one. */
function isHead(error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }): boolean {
  return error.rawPacket?.toString('latin1', 0, 5) === 'HEAD '
}
