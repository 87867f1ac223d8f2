/**
 * The thread that vouches for its process; see `SessionPulse`. It has a connection of its own, on which
 * it only gives signs of life, and writes down which of them the server has confirmed.
 */
import { workerData } from 'node:worker_threads'
import { writeHeartbeat, writeHello } from '../../protocol/session/client-frames.ts'
import { PackWriter } from '../../protocol/session/pack-writer.ts'
import { readServerFrame } from '../../protocol/session/server-frames.ts'
import type { ServerFrameHandler } from '../../protocol/session/server-message.ts'
import { SESSION_VERSION } from '../../protocol/session/session-limits.ts'
import { HEAD_ROOM } from '../../protocol/websocket/frame-format.ts'
import { SystemClock } from '../../time/system-clock.ts'
import { NS_PER_MS, PULSE_SLOTS, type PulseData } from './pulse-data.ts'
import { UNANSWERED_BEATS_MAX } from './session-limits.ts'
import { SessionSocket } from './session-socket.ts'

class Pulse implements ServerFrameHandler {
  readonly #data: PulseData
  readonly #times: BigInt64Array
  readonly #clock = new SystemClock()
  readonly #writer = new PackWriter(HEAD_ROOM)
  #socket: SessionSocket | undefined
  #isWelcome = false
  #unanswered = 0

  constructor(data: PulseData) {
    this.#data = data
    this.#times = new BigInt64Array(data.times)
  }

  /** Once in a heartbeat, for as long as the thread runs. */
  beatOn(): void {
    this.#beat()
    this.#clock.setTimer(this.#data.heartbeatMs, () => this.beatOn()).ref()
  }

  welcome(): void {
    this.#isWelcome = true
    this.#beat()
  }

  frame(): boolean {
    return false
  }

  /** The number is the instant in microseconds, which a message can carry exactly. */
  beat(sentAtUs: number): void {
    this.#unanswered = 0
    const sentAt = BigInt(sentAtUs) * 1_000n
    if (sentAt > Atomics.load(this.#times, PULSE_SLOTS.vouched)) {
      Atomics.store(this.#times, PULSE_SLOTS.vouched, sentAt)
    }
  }

  outcome(): void {}
  failure(): void {}
  reply(): void {}
  done(): void {}
  event(): void {}
  lost(): void {}
  over(): void {}
  comeBack(): void {}

  #beat(): void {
    const now = process.hrtime.bigint()
    const silentMs = Number(now - Atomics.load(this.#times, PULSE_SLOTS.alive)) / NS_PER_MS
    if (silentMs > this.#data.hungMs) {
      this.#socket?.terminate()
    } else if (this.#socket === undefined) {
      this.#connect()
    } else if (this.#isWelcome) {
      this.#send(this.#socket, Number(now / 1_000n))
    }
  }

  #send(socket: SessionSocket, sentAtUs: number): void {
    this.#unanswered += 1
    if (this.#unanswered > UNANSWERED_BEATS_MAX) return socket.terminate()
    writeHeartbeat(this.#writer, { sentAtMs: sentAtUs, received: 0 })
    socket.send(this.#writer.take())
  }

  #connect(): void {
    const { url, token, tls, client, session } = this.#data
    const socket: SessionSocket = new SessionSocket(
      { url: new URL(url), token, tls },
      {
        onOpen: () => {
          const hello = { version: SESSION_VERSION, client, session, received: 0, pulse: true }
          writeHello(this.#writer, hello)
          socket.send(this.#writer.take())
        },
        onFrame: (frame) => {
          try {
            readServerFrame(frame, this)
          } catch {
            // A server that makes no sense is as good as none.
            socket.terminate()
          }
        },
        onClosed: () => {
          this.#socket = undefined
          this.#isWelcome = false
          this.#unanswered = 0
        },
      },
    )
    this.#socket = socket
  }
}

new Pulse(workerData as PulseData).beatOn()
