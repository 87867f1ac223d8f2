import { createRequire } from 'node:module'
import type { SecureContextOptions } from 'node:tls'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../time/clock.ts'

/** What the thread that sends heartbeats is started with. */
export interface HeartbeatData {
  /** Of the server, as `http:` or `https:`. */
  readonly url: string
  readonly token: string | undefined
  readonly tls: SecureContextOptions | undefined
  readonly client: string
  readonly session: string
  readonly heartbeatMs: number
  /** What both threads know; see `HEARTBEAT_SLOTS`. */
  readonly shared: SharedArrayBuffer
}

/** Instants are nanoseconds on the monotonic clock that all threads share. */
export const HEARTBEAT_SLOTS = {
  /** Written by the main thread: when it last ran. */
  mainRan: 0,
  /** Written by the main thread: how many losses it has processed, as the server counts them. */
  losses: 1,
  /** Written by both: when the latest heartbeat was sent that counts. */
  confirmed: 2,
} as const

const HEARTBEAT_BYTES = 3 * BigInt64Array.BYTES_PER_ELEMENT

const NS_PER_MS = 1e6

export function nowNs(): bigint {
  return process.hrtime.bigint()
}

export function toMs(ns: bigint): number {
  return Number(ns) / NS_PER_MS
}

export function toNs(ms: number): bigint {
  return BigInt(Math.round(ms * NS_PER_MS))
}

export type HeartbeatThreadOptions = Omit<HeartbeatData, 'shared'> & { readonly clock: Clock }

/**
 * Which heartbeats of the session count, and a worker thread that sends more of them while the main thread is
 * busy, over a connection of its own. The thread does not keep the process alive. A heartbeat that counts has
 * renewed everything that is held in the session and was not told to be lost.
 */
export class HeartbeatThread {
  readonly #options: HeartbeatThreadOptions
  readonly #shared = new SharedArrayBuffer(HEARTBEAT_BYTES)
  readonly #slots = new BigInt64Array(this.#shared)
  /** From the clock that all threads share to that of the main thread. */
  readonly #offsetMs: number
  #worker: Worker | undefined
  #timer: Timer | undefined
  #isStopped = false

  constructor(options: HeartbeatThreadOptions) {
    this.#options = options
    this.#offsetMs = options.clock.nowMs() - toMs(nowNs())
  }

  /** When the latest heartbeat was sent that counts, on the clock of the main thread. */
  get confirmedAtMs(): number {
    return toMs(Atomics.load(this.#slots, HEARTBEAT_SLOTS.confirmed)) + this.#offsetMs
  }

  /** One that the main thread has sent itself. */
  confirm(sentAtMs: number): void {
    const sentAt = toNs(sentAtMs - this.#offsetMs)
    const slot = HEARTBEAT_SLOTS.confirmed
    if (sentAt > Atomics.load(this.#slots, slot)) Atomics.store(this.#slots, slot, sentAt)
  }

  /** How many losses the main thread has processed, as the server counts them. */
  setLosses(losses: number): void {
    Atomics.store(this.#slots, HEARTBEAT_SLOTS.losses, BigInt(losses))
  }

  start(): void {
    if (this.#worker !== undefined || this.#isStopped) return
    const { clock: _, ...data } = this.#options
    this.#noteAlive()
    this.#worker = startWorker({ ...data, shared: this.#shared })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#worker?.terminate()
  }

  #noteAlive(): void {
    const { clock, heartbeatMs } = this.#options
    Atomics.store(this.#slots, HEARTBEAT_SLOTS.mainRan, nowNs())
    this.#timer = clock.setTimer(heartbeatMs, () => this.#noteAlive())
  }
}

/** A process that cannot have a thread does without: it is a help, and not what keeps the locks. */
function startWorker(workerData: HeartbeatData): Worker | undefined {
  const options = { workerData, name: 'holdfast-heartbeat', execArgv: [] }
  try {
    const worker = import.meta.url.endsWith('.ts')
      ? new Worker(createSourceLoader(), { ...options, eval: true })
      : new Worker(new URL('./heartbeat-worker.js', import.meta.url), options)
    worker.on('error', () => {})
    worker.unref()
    return worker
  } catch {
    return undefined
  }
}

/** In a checkout the program is TypeScript, which a thread has to be taught by itself. */
function createSourceLoader(): string {
  const path = createRequire(import.meta.url).resolve('tsx/esm/api')
  const teacher = pathToFileURL(path.replace(/\.cjs$/, '.mjs')).href
  const program = new URL('./heartbeat-worker.ts', import.meta.url).href
  return `import('${teacher}').then(({ register }) => { register(); return import('${program}') })`
}
