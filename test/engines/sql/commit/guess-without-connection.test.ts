import { describe, expect, it } from 'vitest'
import { FaultProxy } from '../../../../src/testing/fault-proxy.ts'
import { createStillClock, OptimisticProcess } from './guessing-process.ts'
import { MYSQL, POSTGRES } from '../test-servers.ts'
import { useServer } from '../use-server.ts'

describe.each([POSTGRES, MYSQL])('who decides without looking, on $name,', (kind) => {
  const server = useServer(kind)

  it('is told that the database is away, and that nothing was sent', async () => {
    const url = new URL(await server.create())
    const proxy = await FaultProxy.listen({ target: { port: Number(url.port) } })
    url.port = String(proxy.port)
    const options = { clock: createStillClock(() => 1_000), isClockOurs: true }
    const here = server.closing(await OptimisticProcess.open(() => kind.open(url.href), options))
    for (const key of ['k1', 'k2']) await here.acquire('a', key)
    await proxy.close()
    // What was sent on a connection that is gone may have arrived; then there is none to send anything on.
    await expect(here.release('a', 'k1')).rejects.toMatchObject({ applied: 'maybe' })
    await expect(here.release('a', 'k2')).rejects.toMatchObject({
      code: 'LOCK_ENGINE_UNAVAILABLE',
      applied: 'no',
    })
  })
})
