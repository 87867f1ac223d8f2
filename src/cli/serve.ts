import { readFileSync } from 'node:fs'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { LockEngine } from '../engine/engine.ts'
import { createError } from '../engine/errors/errors.ts'
import { isLoopback } from '../server/access/loopback.ts'
import { isGuarded } from '../server/access/open-access.ts'
import { LockServer, type LockServerOptions } from '../server/lock-server.ts'
import { Log } from '../server/observe/log.ts'
import { SystemClock } from '../time/system-clock.ts'
import type { CliIo } from './cli-io.ts'
import { EXIT_CODES, exitCodeOfSignal } from './exit-codes.ts'
import { followAccessFiles, readTls, readTokens } from './serve/access-files.ts'
import { openServeEngine, showServeEngine } from './serve/open-serve-engine.ts'
import { readServeSettings, type ServeSettings } from './settings/read-serve-settings.ts'
import { SettingError } from './settings/setting-error.ts'

/** A stop takes no longer than this, even if clients do not hang up. */
const STOP_MS = 4_500

/** Run a server until a signal stops it. Resolves to the exit code. */
export async function runServe(args: readonly string[], io: CliIo): Promise<number> {
  const settings = readServeSettings({
    args,
    env: io.env,
    readFile: (path) => readFileSync(path, 'utf8'),
  })
  const log = createLog(settings, io)
  const access = readAccess(settings, log)
  const { engine, warnings = [] } = await openServeEngine(settings)
  try {
    log.info('locks are kept', { engine: showServeEngine(settings) })
    for (const warning of [...settings.warnings, ...warnings]) log.warn(warning)
    const server = await openServer({ settings, access, engine, log })
    const stopFollowing = followAccessFiles(settings, server, log)
    const stopped = waitForSignal(io, log)
    announce(server, settings, io)
    log.debug('listening', { url: server.url })
    await stopped
    stopFollowing()
    await stop(server, engine)
    log.info('stopped')
    return EXIT_CODES.ok.code
  } finally {
    await engine.close()
  }
}

function createLog({ log: level }: ServeSettings, io: CliIo): Log {
  const clock = new SystemClock()
  return new Log({
    level,
    form: io.stderr.isTTY ? 'pretty' : 'json',
    write: (line) => io.stderr.write(line),
    wallMs: () => clock.wallMs(),
  })
}

type AccessMaterial = Pick<LockServerOptions, 'tokens' | 'tls' | 'insecure'>

/** Everything that can be wrong about access is found before anything is opened. */
function readAccess(settings: ServeSettings, log: Log): AccessMaterial {
  const { host, insecure, sources } = settings
  const tokens = readTokens(settings)
  const tls = readTls(settings)
  if (!isGuarded({ host, tokens, insecure, asksForCertificates: tls?.ca !== undefined })) {
    const why = `${host} lets every client that reaches it end every lock`
    const what = 'give --tokens or --tls-ca, or say --insecure'
    throw new SettingError(sources['host'] ?? 'host', `${why}: ${what}`)
  }
  if (!isLoopback(host) && tls === undefined) {
    log.warn('no TLS beyond this machine: tokens and names can be read on the network', { host })
  }
  return { tokens, tls, insecure }
}

interface ServerParts {
  readonly settings: ServeSettings
  readonly access: AccessMaterial
  readonly engine: LockEngine
  readonly log: Log
}

async function openServer({ settings, access, engine, log }: ServerParts): Promise<LockServer> {
  const { host, port, law, limits, sessionGraceMs } = settings
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  try {
    return await LockServer.open({
      ...access,
      engine,
      settings: law,
      host,
      port,
      limits,
      sessionGraceMs,
      log,
      registry,
    })
  } catch (error) {
    throw toListenError(error as NodeJS.ErrnoException, settings)
  }
}

const LISTEN_PROBLEMS: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'this machine has no such address',
  EACCES: 'this user may not listen there',
}

function toListenError(error: NodeJS.ErrnoException, { host, port }: ServeSettings): Error {
  const { code = '', message } = error
  if (code === 'EADDRINUSE') {
    const text = `host ${host}, port ${port}: another program listens there already`
    return createError('LOCK_ENGINE_UNAVAILABLE', text, { cause: error })
  }
  if (Object.hasOwn(LISTEN_PROBLEMS, code)) {
    return new SettingError(`host ${host}, port ${port}`, LISTEN_PROBLEMS[code] ?? message)
  }
  if (/^ERR_(?:OSSL|TLS|CRYPTO)/.test(code)) {
    return new SettingError('tls-cert, tls-key, tls-ca', 'they do not fit together, or are no PEM')
  }
  return error
}

/**
 * One line for programs that wait for it, and for people something to try; not with TLS, where it depends
 * on certificates that only they know.
 */
function announce({ url }: LockServer, { tokens, tls }: ServeSettings, io: CliIo): void {
  io.stdout.write(`listening on ${url}\n`)
  const isForPeople = io.stdout.isTTY || io.env['npm_lifecycle_event'] === 'start'
  if (!isForPeople || tls !== undefined) return
  const token = tokens === undefined ? '' : ' -H "Authorization: Bearer $TOKEN"'
  const body = '{"key":"orders/42","owner":"me"}'
  io.stdout.write(`try: curl -s${token} ${url}/v1/acquire -d '${body}'\n`)
}

/** The first signal asks for an orderly stop; a second one does not want to wait for it. */
function waitForSignal(io: CliIo, log: Log): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false
    io.onSignals(['SIGTERM', 'SIGINT'], (signal) => {
      if (isStopping) process.exit(exitCodeOfSignal(signal))
      isStopping = true
      log.info('stopping', { signal })
      resolve()
    })
  })
}

/** Everything acknowledged is on disk before this begins, so cutting it short loses nothing. */
async function stop(server: LockServer, engine: LockEngine): Promise<void> {
  const tooLong = setTimeout(() => process.exit(EXIT_CODES.ok.code), STOP_MS)
  await server.close()
  await engine.close()
  clearTimeout(tooLong)
}
