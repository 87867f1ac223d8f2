import type { WaitingCommand } from '../../engine/waits/waiting-command.ts'
import { PackWriter } from '../../protocol/session/pack-writer.ts'
import { writeFrameNumber } from '../../protocol/session/server-frames.ts'
import { SERVER_FRAME_MESSAGES } from '../../protocol/session/session-limits.ts'
import { HEAD_ROOM } from '../../protocol/websocket/frame-format.ts'
import { FRAME_BYTES } from './connection-limits.ts'

/** Where frames go, while there is a connection. */
export interface FrameSink {
  /** It begins with `HEAD_ROOM` bytes for the sink's own use. */
  sendFrame(frame: Buffer): void
}

interface KeptFrame {
  readonly number: number
  readonly bytes: Buffer
  readonly grants: readonly WaitingCommand[]
  /** It was given to a connection, and so may have arrived. */
  wasSent: boolean
}

/** Cheaper than `queueMicrotask`, which makes a resource for whoever traces such calls. */
const A_TURN: Promise<void> = Promise.resolve()
const NO_GRANTS: readonly WaitingCommand[] = Object.freeze([])

/**
 * What a session has to say. Everything that is said in one turn of the event loop leaves as one frame;
 * frames are numbered and kept until the client has confirmed them, so that a broken connection loses
 * none. There is nothing to wait for at a low rate: the frame leaves at the end of the turn.
 */
export class Outbox {
  readonly #writer = new PackWriter(HEAD_ROOM)
  readonly #flush = (): void => {
    this.#isScheduled = false
    this.flush()
  }
  /** Whoever is answered by a promise is answered in a microtask, and ticks that are due come first. */
  readonly #flushAfterTurn = (): void => process.nextTick(this.#flush)
  /** Somebody is still talking and sees to it that the answers leave afterwards. */
  isHeldBack = false
  #sink: FrameSink | undefined
  #frames: KeptFrame[] = []
  #grants: WaitingCommand[] | undefined
  #lastNumber = 0
  #keptBytes = 0
  #isScheduled = false
  #messages = 0

  /** Of the frame that is being written. */
  get presentNumber(): number {
    return this.#lastNumber + 1
  }

  /** Bytes that the client has not confirmed, those of the frame that is being written included. */
  get keptBytes(): number {
    return this.#keptBytes + this.#writer.length
  }

  /** Write one message to the returned writer, at once. */
  open(): PackWriter {
    if (this.#messages >= SERVER_FRAME_MESSAGES || this.#writer.length > FRAME_BYTES) this.flush()
    this.#messages += 1
    if (this.#writer.length === 0) writeFrameNumber(this.#writer, this.#lastNumber + 1)
    if (!this.isHeldBack) this.flushLater()
    return this.#writer
  }

  /** At the end of the turn, with whatever is said until then. */
  flushLater(): void {
    if (this.#isScheduled || this.#writer.length === 0) return
    this.#isScheduled = true
    void A_TURN.then(this.#flushAfterTurn)
  }

  /** The message that was just written says that this one was granted. */
  noteGrant(command: WaitingCommand): void {
    this.#grants ??= []
    this.#grants.push(command)
  }

  flush(): void {
    if (this.#writer.length === 0) return
    this.#lastNumber += 1
    this.#messages = 0
    const bytes = this.#writer.take()
    const wasSent = this.#sink !== undefined
    const grants = this.#grants ?? NO_GRANTS
    this.#frames.push({ number: this.#lastNumber, bytes, grants, wasSent })
    this.#grants = undefined
    this.#keptBytes += bytes.length
    this.#sink?.sendFrame(bytes)
  }

  /** A connection has come: it gets what it has not received. */
  attach(sink: FrameSink, received: number): void {
    this.flush()
    this.confirm(received)
    this.#sink = sink
    for (const frame of this.#frames) {
      frame.wasSent = true
      sink.sendFrame(frame.bytes)
    }
  }

  detach(): void {
    this.#sink = undefined
  }

  /** Every frame up to this one has arrived. */
  confirm(number: number): void {
    const frames = this.#frames
    let count = 0
    while (count < frames.length && (frames[count] as KeptFrame).number <= number) {
      this.#keptBytes -= (frames[count] as KeptFrame).bytes.length
      count += 1
    }
    if (count === frames.length) this.#frames = []
    else if (count > 0) this.#frames = frames.slice(count)
  }

  /**
   * Nobody will come any more. Returns what was granted and never heard of: who said good-bye has confirmed
   * what it had heard by then, and who fell silent may have heard whatever was sent.
   */
  close(end: 'goodbye' | 'silence'): readonly WaitingCommand[] {
    this.flush()
    this.#sink = undefined
    const unheard = this.#frames
      .filter(({ wasSent }) => end === 'goodbye' || !wasSent)
      .flatMap(({ grants }) => grants)
    this.#frames = []
    this.#keptBytes = 0
    return unheard
  }
}
