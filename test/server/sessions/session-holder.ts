/**
 * A process that holds a lock over a session, and does what its parent says: `covered` waits until its
 * worker thread sends heartbeats for it, `block:MS` blocks its main thread, `look` tells what the handle says,
 * `release` releases. The parent learns of everything by IPC.
 */
import { setTimeout } from 'node:timers/promises'
import { SessionEngine } from '../../../src/engines/remote/session-engine.ts'
import { createLocks } from '../../../src/locks/create-locks.ts'

const [url = '', ttl = '', thread = ''] = process.argv.slice(2)
const engine = await SessionEngine.open(url, { heartbeatThread: thread === 'thread' })
const locks = createLocks(engine, { owner: 'holder' })
const lock = await locks.acquire('k', { ttl: Number(ttl) })
let reason = ''
lock.signal.addEventListener('abort', () => {
  reason = String((lock.signal.reason as { details: { reason: string } }).details.reason)
})

/** What is known without going back to the event loop. */
function look(after: string): void {
  process.send?.({ after, isHeld: lock.isHeld, isAborted: lock.signal.aborted, reason })
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** What is confirmed while the main thread is blocked was said by another. */
async function untilCovered(): Promise<void> {
  const { session } = engine
  for (;;) {
    const before = session.confirmedAtMs
    block(2 * session.heartbeatMs)
    if (session.confirmedAtMs > before) return
    await setTimeout(session.heartbeatMs)
  }
}

process.on('message', (order: string) => {
  const [verb, ms] = order.split(':')
  if (verb === 'covered') {
    void untilCovered().then(() => look('covered'))
  } else if (verb === 'block') {
    block(Number(ms))
    look('block')
  } else if (verb === 'look') {
    look('look')
  } else {
    void lock.release().then(() => look('release'))
  }
})

process.send?.({ after: 'start', token: lock.token, isHeld: lock.isHeld, isAborted: false, reason })
