import { randomInt } from 'node:crypto'
import type { Client } from 'pg'
import type { Clock, Timer } from '../../../time/clock.ts'
import { SystemClock } from '../../../time/system-clock.ts'
import { CHANNEL, isRungFor } from './postgres-notify.ts'

/** Between attempts to connect again: doubling from the first to the last, jittered. */
const PAUSE_MS_MIN = 50
const PAUSE_MS_MAX = 2000

/** A connection that was cut without a word looks like one on which nothing happens, so it is asked. */
const PULSE_MS = 3000

export interface ListenerOptions {
  /** A new client with a limit on how long a query may take. */
  readonly createClient: () => Client
  readonly process: string
  readonly onRing: () => void
}

/**
 * A connection of its own that hears the bell. Cut, it connects again for as long as it takes, and rings
 * once when it is back, because nobody kept what was rung meanwhile. It keeps no process alive.
 */
export class PostgresListener {
  readonly #options: ListenerOptions
  /** Connections live on real time, whatever clock the engine has. */
  readonly #clock: Clock = new SystemClock()
  #client: Client | undefined
  #pauseMs: number = PAUSE_MS_MIN
  #timer: Timer | undefined
  #isListening = false
  #isClosed = false

  constructor(options: ListenerOptions) {
    this.#options = options
  }

  /** Resolves when every later ring is heard. */
  async start(): Promise<void> {
    try {
      await this.#connect()
    } catch (error) {
      await this.close()
      throw error
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    // Whoever waits for the end is still there when it comes.
    if (this.#client !== undefined) keepAlive(this.#client, true)
    const ended = this.#client?.end().catch(() => {})
    // One that never connected may never say that it has ended.
    if (this.#isListening) await ended
  }

  async #connect(): Promise<void> {
    const { createClient, process, onRing } = this.#options
    const client = createClient()
    this.#client = client
    // Whatever happens to it, the end of it follows.
    client.on('error', () => {})
    client.on('notification', ({ payload = '' }) => {
      if (isRungFor(process, payload)) onRing()
    })
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
    keepAlive(client, false)
    this.#isListening = true
    this.#pauseMs = PAUSE_MS_MIN
    client.once('end', () => {
      this.#isListening = false
      this.#connectLater()
    })
    this.#pulseLater(client)
  }

  #connectLater(): void {
    const delayMs = randomInt(this.#pauseMs / 2, this.#pauseMs + 1)
    this.#setTimer(() => void this.#connectAgain(), delayMs)
    this.#pauseMs = Math.min(2 * this.#pauseMs, PAUSE_MS_MAX)
  }

  async #connectAgain(): Promise<void> {
    try {
      await this.#connect()
    } catch {
      void this.#client?.end().catch(() => {})
      this.#connectLater()
      return
    }
    if (this.#isClosed) await this.close()
    else this.#options.onRing()
  }

  #pulseLater(client: Client): void {
    this.#setTimer(() => {
      client.query('select 1').then(
        () => this.#pulseLater(client),
        () => client.end().catch(() => {}),
      )
    }, PULSE_MS)
  }

  #setTimer(action: () => void, ms: number): void {
    this.#timer?.cancel()
    if (!this.#isClosed) this.#timer = this.#clock.setTimer(ms, action)
  }
}

/** The types of the driver have forgotten these two. Without a connection they do nothing. */
function keepAlive(
  client: Client & { ref?: () => void; unref?: () => void },
  isKept: boolean,
): void {
  if (isKept) client.ref?.()
  else client.unref?.()
}
