import { createRequire } from 'node:module'
import type { SecureContextOptions } from 'node:tls'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../time/clock.ts'
import { NS_PER_MS, PULSE_BYTES, PULSE_SLOTS, type PulseData } from './pulse-data.ts'
import { PULSE_MS_MAX } from './session-limits.ts'

export interface SessionPulseOptions {
  readonly url: URL
  readonly token: string | undefined
  readonly tls?: SecureContextOptions | undefined
  readonly client: string
  readonly clock: Clock
  readonly isOn: boolean
}

/**
 * A worker thread that vouches for this process while its main thread is busy, over a connection of its
 * own. It is started when something is held for longer than a moment, does not keep the process alive,
 * and falls silent when the main thread hangs for good.
 */
export class SessionPulse {
  /** Whose signs of life these are; known once the server has welcomed us. */
  session: { readonly id: string; readonly heartbeatMs: number } | undefined
  readonly #options: SessionPulseOptions
  readonly #times = new BigInt64Array(new SharedArrayBuffer(PULSE_BYTES))
  #worker: Worker | undefined
  #timer: Timer | undefined
  /** From the clock that all threads share to the one of the main thread. */
  #offsetMs = 0
  #isStarted = false

  constructor(options: SessionPulseOptions) {
    this.#options = options
  }

  /** When the latest sign of life of the worker was sent that the server has confirmed. */
  get vouchedAtMs(): number {
    if (!this.#isStarted) return Number.NEGATIVE_INFINITY
    const vouched = Atomics.load(this.#times, PULSE_SLOTS.vouched)
    return vouched === 0n ? Number.NEGATIVE_INFINITY : Number(vouched) / NS_PER_MS + this.#offsetMs
  }

  start(): void {
    const { session } = this
    if (this.#isStarted || session === undefined || !this.#options.isOn) return
    this.#isStarted = true
    const { clock, url, token, tls, client } = this.#options
    this.#offsetMs = clock.nowMs() - Number(process.hrtime.bigint()) / NS_PER_MS
    this.#live(session.heartbeatMs)
    const workerData: PulseData = {
      url: url.href,
      token,
      tls,
      client,
      session: session.id,
      heartbeatMs: session.heartbeatMs,
      hungMs: PULSE_MS_MAX,
      times: this.#times.buffer as SharedArrayBuffer,
    }
    this.#worker = startWorker(workerData)
  }

  async stop(): Promise<void> {
    this.#isStarted = true
    this.#timer?.cancel()
    await this.#worker?.terminate()
    this.#worker = undefined
  }

  #live(everyMs: number): void {
    Atomics.store(this.#times, PULSE_SLOTS.alive, process.hrtime.bigint())
    this.#timer = this.#options.clock.setTimer(everyMs, () => this.#live(everyMs))
  }
}

/** A process that cannot have one has to do without: it is not what keeps the locks, only a help. */
function startWorker(workerData: PulseData): Worker | undefined {
  const options = { workerData, name: 'holdfast-pulse', execArgv: [] }
  try {
    const worker = import.meta.url.endsWith('.ts')
      ? new Worker(createSourceLoader(), { ...options, eval: true })
      : new Worker(new URL('./pulse-worker.js', import.meta.url), options)
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
  const program = new URL('./pulse-worker.ts', import.meta.url).href
  return `import('${teacher}').then(({ register }) => { register(); return import('${program}') })`
}
