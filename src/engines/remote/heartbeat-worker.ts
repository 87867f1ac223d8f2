/**
 * The thread that sends heartbeats while the main thread is busy; see `HeartbeatThread`. It has a connection
 * of its own, and notes which heartbeats count.
 */
import { workerData } from 'node:worker_threads'
import type { Clock } from '../../time/clock.ts'
import { SystemClock } from '../../time/system-clock.ts'
import { HEARTBEAT_SLOTS, type HeartbeatData, nowNs, toMs, toNs } from './heartbeat-thread.ts'
import { HEARTBEATS_PER_LEASE_MIN, HUNG_MS_MAX } from './session-limits.ts'
import { SessionLink } from './session-link.ts'
import { openSessionSocket } from './session-socket.ts'

const { url, token, tls, client, session, heartbeatMs, shared } = workerData as HeartbeatData
const slots = new BigInt64Array(shared)
const system = new SystemClock()
/** The clock that all threads share, so that instants mean the same in each. */
const clock: Clock = {
  nowMs: () => toMs(nowNs()),
  wallMs: () => system.wallMs(),
  setTimer: (delayMs, callback) => system.setTimer(delayMs, callback),
}
const gapMsMax = heartbeatMs * HEARTBEATS_PER_LEASE_MIN

/**
 * A heartbeat counts if the main thread has processed every loss that the server had told by then, and if no
 * lease can have run out since the one before: what was lost in a longer gap only the main thread can ask.
 */
function onHeard(sentAtMs: number, losses: number): void {
  const confirmed = Atomics.load(slots, HEARTBEAT_SLOTS.confirmed)
  if (clock.nowMs() - toMs(confirmed) > gapMsMax) return
  if (BigInt(losses) !== Atomics.load(slots, HEARTBEAT_SLOTS.losses)) return
  const sentAt = toNs(sentAtMs)
  if (sentAt > confirmed) {
    Atomics.compareExchange(slots, HEARTBEAT_SLOTS.confirmed, confirmed, sentAt)
  }
}

let link: SessionLink | undefined

function connect(): SessionLink {
  const handler = { onUp: () => {}, onHeard, onRefused: () => {} }
  const address = { url: new URL(url), token, tls, client }
  const made = new SessionLink({
    ...{ ...address, clock, handler },
    openSocket: openSessionSocket,
    heartbeatsFor: session,
  })
  made.connect()
  return made
}

/** A process whose main thread hangs for good falls silent. */
function look(): void {
  const silentMs = clock.nowMs() - toMs(Atomics.load(slots, HEARTBEAT_SLOTS.mainRan))
  if (silentMs <= HUNG_MS_MAX) {
    link ??= connect()
  } else {
    link?.terminate()
    link = undefined
  }
  system.setTimer(heartbeatMs, look).ref()
}

look()
