import { connect } from 'node:net'
import { createError } from '../engine/errors/errors.ts'

const HTTP_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }
/** A server that takes longer to answer the phone is left to the engine, which is patient. */
const KNOCK_MS = 3_000
const NOT_LISTENING: ReadonlySet<string | undefined> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
])

/**
 * Throws at once if no process listens at a server's address. A program's connection is patient, because
 * its server may be restarting; a person at a terminal has probably not started one.
 */
export async function assertListening(server: string): Promise<void> {
  if (!URL.canParse(server)) return
  const { protocol, hostname, port } = new URL(server)
  const usual = HTTP_PORTS[protocol]
  if (usual === undefined) return
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const code = await knock(host, port === '' ? usual : Number(port))
  if (!NOT_LISTENING.has(code)) return
  const where = `${protocol}//${hostname}${port === '' ? '' : `:${port}`}`
  throw createError(
    'LOCK_ENGINE_UNAVAILABLE',
    `nothing listens at ${where} (${code}); start a server with "holdfast serve", or name yours with --server`,
  )
}

/** What went wrong, if something did. */
function knock(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: KNOCK_MS })
    const hangUp = (code?: string): void => {
      socket.destroy()
      resolve(code)
    }
    socket.once('connect', () => hangUp())
    socket.once('timeout', () => hangUp())
    socket.once('error', (error: NodeJS.ErrnoException) => hangUp(error.code))
  })
}
