/**
 * A process that holds a lock over a session, and does what its parent says: `block:MS` blocks its main
 * thread, `look` tells what the handle says, `release` releases. The parent learns of everything by IPC.
 */
import { connect } from '../../../src/locks/connect.ts'

const [url = '', ttl = '', pulse = ''] = process.argv.slice(2)
const locks = await connect(url, { owner: 'holder', pulse: pulse === 'pulse' })
const lock = await locks.acquire('k', { ttl: Number(ttl) })
let reason = ''
lock.signal.addEventListener('abort', () => {
  reason = String((lock.signal.reason as { details: { reason: string } }).details.reason)
})

/** What is known without going back to the event loop. */
function look(after: string): void {
  process.send?.({ after, isHeld: lock.isHeld, isAborted: lock.signal.aborted, reason })
}

process.on('message', (order: string) => {
  const [verb, ms] = order.split(':')
  if (verb === 'block') {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms))
    look('block')
  } else if (verb === 'look') {
    look('look')
  } else {
    void lock.release().then(() => look('release'))
  }
})

process.send?.({ after: 'start', token: lock.token, isHeld: lock.isHeld, isAborted: false, reason })
