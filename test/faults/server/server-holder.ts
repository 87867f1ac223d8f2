/**
 * A process that takes a lock of a server and uses it for as long as it has it: every few milliseconds
 * it looks whether it still holds it and, if so, writes down when, before it goes back to the event loop.
 * What it is told about its lock goes to its parent.
 *
 * node --import tsx server-holder.ts URL LOG TTL
 */
import { openSync, writeSync } from 'node:fs'
import { connect } from '../../../src/locks/connect.ts'
import { HostClock } from './server-host-clock.ts'

const USE_MS = 5

const [url = '', logPath = '', ttlMs = ''] = process.argv.slice(2)
const clock = new HostClock()
const log = openSync(logPath, 'a')
const locks = await connect(url, { owner: 'holder' })
const lock = await locks.acquire('k', { ttl: Number(ttlMs) })

const using = setInterval(() => {
  // Whoever stops this process between the two does not make a late use of an early look.
  const atMs = clock.nowMs()
  if (lock.isHeld) writeSync(log, `${atMs}\n`)
}, USE_MS)

lock.signal.addEventListener('abort', () => {
  const { isHeld } = lock
  process.send?.({ kind: 'lost', isHeld, reason: String(lock.signal.reason) })
})

process.on('message', () => {
  clearInterval(using)
  void locks.close().then(() => process.disconnect())
})

process.send?.({ kind: 'held', token: lock.token })
