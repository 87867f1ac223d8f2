import { expect, it, onTestFinished } from 'vitest'
import { HttpEngine } from '../../../src/engines/remote/http-engine.ts'
import { undoGrant } from '../../../src/engines/remote/undo-grant.ts'
import type { Command } from '../../../src/law/commands.ts'
import type { Outcome } from '../../../src/law/outcomes.ts'
import { sendJson, StubServer } from '../../client/stub-server.ts'

const ACQUIRE = { kind: 'acquire', key: 'k', owner: 'a', requestId: '1', waitMs: 60_000 } as const
const GRANTED = {
  outcome: 'granted',
  mode: 'write',
  token: 7,
  reads: 0,
  writes: 1,
  leaseMs: 30_000,
}
const ENDED = { outcome: 'refused', code: 'ended', end: 'cancelled' }

/** A server that is killed after it did what the first cancel asks for, and knows nothing of that later. */
async function giveUp(standing: object): Promise<{ asked: string[]; outcome: Promise<Outcome> }> {
  const asked: string[] = []
  let grant = (): void => {}
  const stub = await StubServer.listen(({ path, request, response }) => {
    if (path === '/v1/capabilities') return sendJson(response, 200, { name: 'stub', durable: true })
    asked.push(path)
    if (asked.length === 1) {
      response.writeProcessing()
      grant = () => sendJson(response, 200, GRANTED)
    } else if (asked.length === 2) request.socket.destroy()
    else if (path === '/v1/acquire') sendJson(response, 200, standing)
    else {
      grant()
      sendJson(response, 200, { outcome: 'cancelled', cancelled: false })
    }
  })
  onTestFinished(() => stub[Symbol.asyncDispose]())
  const engine = await HttpEngine.open(stub.url)
  onTestFinished(() => engine.close())
  const abort = new AbortController()
  const outcome = engine.apply(ACQUIRE, { signal: abort.signal })
  outcome.catch(() => {})
  await expect.poll(() => asked.length).toBe(1)
  abort.abort()
  await expect.poll(() => asked.length).toBe(4)
  return { asked, outcome }
}

it('a wait that was given up is not granted what its own cancel has undone', async () => {
  const { asked, outcome } = await giveUp(ENDED)
  await expect(outcome).rejects.toMatchObject({ code: 'LOCK_ABORTED' })
  expect(asked).toEqual(['/v1/acquire', '/v1/cancel', '/v1/cancel', '/v1/acquire'])
})

it('a wait that was settled before it was given up is told what it has', async () => {
  const { outcome } = await giveUp(GRANTED)
  expect(await outcome).toMatchObject({ kind: 'granted', token: 7 })
})

it.each([
  ['stands', true],
  ['was undone', false],
])('an upgrade that was given up while it was answered %s', async (_, stands) => {
  const upgrade = { ...ACQUIRE, requestId: '2', mode: 'write' } as const
  const granted: Outcome = { ...GRANTED, kind: 'granted', mode: 'write', reads: 1 }
  const send = async (command: Command): Promise<Outcome> => {
    if (command.kind === 'cancel') return { kind: 'cancelled', cancelled: false }
    return stands ? granted : { kind: 'refused', code: 'ended', end: 'cancelled' }
  }
  const isUndone = await undoGrant(send as Parameters<typeof undoGrant>[0], upgrade, granted)
  expect(isUndone).toBe(!stands)
})
