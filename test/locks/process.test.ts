import { describe, expect, it } from 'vitest'
import { runProgram } from './run-program.ts'

describe('behind the back of a process', () => {
  it('a held lock, its renewal and a watch do not keep it alive', async () => {
    const ended = await runProgram(`
      await locks.acquire('a', { ttl: 300 })
      locks.watch()
      console.log('held')
    `)
    expect(ended).toEqual({ code: 0, output: 'held' })
  })

  it('a lock that is lost without anyone listening does not crash it', async () => {
    const ended = await runProgram(`
      const lock = await locks.acquire('a', { ttl: 100 })
      lock.signal
      await locks.forceRelease('a')
      const untilMs = performance.now() + 10_000
      while (lock.isHeld && performance.now() < untilMs) await new Promise((r) => setTimeout(r, 10))
      console.log(lock.isHeld, lock.signal.reason.code)
      await lock.release()
    `)
    expect(ended).toEqual({ code: 0, output: 'false LOCK_LOST' })
  })

  it('a pending acquire keeps it alive until it is settled', async () => {
    const ended = await runProgram(`
      await locks.acquire('a', { ttl: 1_000, renew: false })
      locks.acquire('a').then(() => console.log('granted'))
    `)
    expect(ended).toEqual({ code: 0, output: 'granted' })
  })

  it('a pending acquire with a time-out ends by that time-out', async () => {
    const ended = await runProgram(`
      await locks.acquire('a')
      await locks.acquire('a', { wait: 200 }).catch((error) => console.log(error.code))
    `)
    expect(ended).toEqual({ code: 0, output: 'LOCK_WAIT_TIMEOUT' })
  })

  it('a renewed lock outlives its lease in real time while the process has something to do', async () => {
    const ended = await runProgram(`
      const lock = await locks.acquire('a', { ttl: 5_000 })
      const holder = async () => (await locks.inspect('a')).holders[0]
      while ((await holder())?.heldMs < 6_500) await new Promise((r) => setTimeout(r, 20))
      console.log(lock.isHeld, (await holder())?.token === lock.token)
    `)
    expect(ended).toEqual({ code: 0, output: 'true true' })
  })
})
