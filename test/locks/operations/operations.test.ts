import { describe, expect, it } from 'vitest'
import type {
  BeginOutcome,
  OperationHandle,
} from '../../../src/locks/operations/operation-handle.ts'
import { openVirtualLocks, rejectionOf } from '../virtual-locks.ts'

function acquired(outcome: BeginOutcome | { readonly kind: 'queued' }): OperationHandle {
  if (outcome.kind !== 'acquired') throw new Error(`expected acquired, got ${outcome.kind}`)
  return outcome.operation
}

describe('operations', () => {
  it('one node pulls, the others skip with its value, and all of them reference the resource', async () => {
    const { locks, connect } = openVirtualLocks()
    const operation = acquired(await locks.begin('pull', 'layer', { node: 'n1' }))
    expect(operation).toMatchObject({ type: 'pull', resource: 'layer', node: 'n1', isHeld: true })
    const waiting = connect({ node: 'n2' }).begin('pull', 'layer')
    await operation.finish({ success: true, value: { sizeBytes: 4 } })
    expect(await waiting).toEqual({ kind: 'skipped', value: { sizeBytes: 4 } })
    expect(await locks.begin('pull', 'layer', { node: 'n3' })).toMatchObject({ kind: 'skipped' })
    expect(await locks.references('layer')).toEqual(['n1', 'n2', 'n3'])
  })

  it('a failure gives the turn to the next node', async () => {
    const { locks } = openVirtualLocks()
    const operation = acquired(await locks.begin('pull', 'layer', { node: 'n1' }))
    const waiting = locks.begin('pull', 'layer', { node: 'n2' })
    await operation.finish({ success: false, error: 'no such registry' })
    expect(acquired(await waiting).node).toBe('n2')
    expect(await locks.references('layer')).toEqual([])
  })

  it('a delete is refused while nodes reference the resource, and names them', async () => {
    const { locks } = openVirtualLocks()
    await acquired(await locks.begin('pull', 'layer', { node: 'n1' })).finish({ success: true })
    const error = await rejectionOf(locks.begin('delete', 'layer', { node: 'n2' }))
    expect(error).toMatchObject({ code: 'LOCK_IN_USE', details: { nodes: ['n1'] } })
    expect(await locks.unref({ resource: 'layer', node: 'n1' })).toBe(1)
    expect(await locks.unref({ resource: 'layer', node: 'n1' })).toBe(0)
    const operation = acquired(await locks.begin('delete', 'layer', { node: 'n2' }))
    await operation.finish({ success: true })
  })

  it('unref without a resource drops everything that a node references', async () => {
    const { connect } = openVirtualLocks()
    const locks = connect({ owner: 'n1' })
    expect(locks.node).toBe('n1')
    for (const resource of ['one', 'two']) {
      await acquired(await locks.begin('pull', resource)).finish({ success: true })
    }
    expect(await locks.unref()).toBe(2)
    expect(await locks.references('one')).toEqual([])
  })

  it('with coordination by the clients, the queue is dissolved after a success', async () => {
    const { locks } = openVirtualLocks()
    const coordination = 'client'
    const operation = acquired(await locks.begin('pull', 'x', { node: 'n1', coordination }))
    const waiting = locks.begin('pull', 'x', { node: 'n2', coordination })
    await operation.finish({ success: true })
    expect(await waiting).toEqual({ kind: 'dissolved', node: 'n1' })
  })

  it('without waiting, a busy resource is queued for, and asking again keeps the place', async () => {
    const { locks, clock } = openVirtualLocks()
    const operation = acquired(await locks.begin('pull', 'x', { node: 'n1' }))
    const ask = () => locks.begin('pull', 'x', { node: 'n2', wait: 0 })
    expect(await ask()).toMatchObject({ kind: 'queued', position: 1 })
    await clock.advance(60_000)
    expect(await ask()).toMatchObject({ kind: 'queued', position: 1 })
    await operation.finish({ success: false })
    expect(acquired(await ask()).node).toBe('n2')
  })

  it('a place in the queue can be left', async () => {
    const { locks } = openVirtualLocks()
    await locks.begin('pull', 'x', { node: 'n1' })
    const queued = await locks.begin('pull', 'x', { node: 'n2', wait: 0 })
    if (queued.kind !== 'queued') throw new Error('expected queued')
    await queued.withdraw()
    expect((await locks.inspect('x', { kind: 'operation' })).queueLength).toBe(0)
  })

  it('a wait that is over rejects with who runs it, and leaves the queue', async () => {
    const { locks, clock } = openVirtualLocks()
    await locks.begin('pull', 'x', { node: 'n1' })
    const waiting = rejectionOf(locks.begin('pull', 'x', { node: 'n2', wait: '5s' }))
    await clock.advance(5_000)
    const error = await waiting
    expect(error).toMatchObject({ code: 'LOCK_WAIT_TIMEOUT', details: { waitedMs: 5_000 } })
    expect((error as Error).message).toBe(
      'gave up waiting to begin the pull of "x" after 5 s: ' +
        'held by pull:n1 (write) since 2030-01-01T00:00:00.000Z',
    )
    expect((await locks.inspect('x', { kind: 'operation' })).queueLength).toBe(0)
  })

  it('an abort ends the wait and leaves the queue', async () => {
    const { locks, clock } = openVirtualLocks()
    await locks.begin('pull', 'x', { node: 'n1' })
    const controller = new AbortController()
    const options = { node: 'n2', signal: controller.signal }
    const waiting = rejectionOf(locks.begin('pull', 'x', options))
    await clock.settle()
    controller.abort()
    expect(await waiting).toMatchObject({
      code: 'LOCK_ABORTED',
      message: expect.stringContaining('begin of'),
    })
    expect((await locks.inspect('x', { kind: 'operation' })).queueLength).toBe(0)
  })

  it('is renewed for as long as it runs, under the same token', async () => {
    const { locks, clock } = openVirtualLocks()
    const operation = acquired(await locks.begin('pull', 'x', { node: 'n1', ttl: '10s' }))
    await clock.advance(600_000)
    expect(operation.isHeld).toBe(true)
    expect(operation.remainingMs).toBeGreaterThan(6_000)
    const { holders } = await locks.inspect('x', { kind: 'operation' })
    expect(holders).toMatchObject([{ node: 'n1', token: operation.token, writes: 1 }])
  })

  it('a turn that came after a long wait starts with a full lease', async () => {
    const { locks, clock } = openVirtualLocks()
    const first = acquired(await locks.begin('pull', 'x', { node: 'n1' }))
    const waiting = locks.begin('pull', 'x', { node: 'n2', ttl: '10s' })
    await clock.advance(600_000)
    await first.finish({ success: false })
    expect(acquired(await waiting).remainingMs).toBe(9_900)
  })

  it('that was lost is not remembered: the success rejects, a failure does not', async () => {
    const { locks, clock } = openVirtualLocks()
    const one = acquired(await locks.begin('pull', 'x', { node: 'n1', ttl: '10s', renew: false }))
    await clock.advance(10_000)
    expect(one.signal.reason).toMatchObject({ code: 'LOCK_LOST', details: { reason: 'expired' } })
    expect(await rejectionOf(one.finish({ success: true }))).toMatchObject({ code: 'LOCK_LOST' })
    const two = acquired(await locks.begin('pull', 'x', { node: 'n2' }))
    await locks.forceRelease('x', { kind: 'operation' })
    await two.finish({ success: false })
    expect(await locks.begin('pull', 'x', { node: 'n3', wait: 0 })).toMatchObject({
      kind: 'acquired',
    })
  })

  it('is not begun again by the renewal of one that had ended', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    const operation = acquired(await locks.begin('pull', 'x', { node: 'n1', ttl: '2h' }))
    const { signal } = operation
    engine.fail('begin', async (_, pass) => {
      await new Promise<void>((resolve) => void clock.setTimer(120_000, resolve))
      return pass()
    })
    await clock.advance(2_390_000)
    await locks.forceRelease('x', { kind: 'operation' })
    await clock.advance(130_000)
    expect(signal.aborted).toBe(true)
    expect((await locks.inspect('x', { kind: 'operation' })).holders).toEqual([])
  })

  it('the first finish decides, and a block that ends without one counts as failed', async () => {
    const { locks, engine } = openVirtualLocks()
    const operation = acquired(await locks.begin('pull', 'x', { node: 'n1' }))
    expect(operation.finish({ success: true })).toBe(operation.finish({ success: false }))
    await operation[Symbol.asyncDispose]()
    expect(await locks.references('x')).toEqual(['n1'])
    {
      await using other = acquired(await locks.begin('scan', 'x', { node: 'n1' }))
      expect(other.isHeld).toBe(true)
    }
    expect(engine.sentOf('finish').map(({ success }) => success)).toEqual([true, false])
  })

  it('a value that JSON cannot carry leaves the operation running', async () => {
    const { locks } = openVirtualLocks()
    const operation = acquired(await locks.begin('pull', 'x', { node: 'n1' }))
    expect(await rejectionOf(operation.finish({ success: true, value: 1n }))).toMatchObject({
      code: 'LOCK_INVALID_ARGUMENT',
    })
    expect(operation.isHeld).toBe(true)
    await operation.finish({ success: true })
  })

  it('whose begin or finish had its answer lost happens once', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail('begin', 'lose-answer', 1)
    engine.fail('finish', 'lose-answer', 1)
    const beginning = locks.begin('pull', 'x', { node: 'n1' })
    await clock.advance(1_000)
    const operation = acquired(await beginning)
    const finishing = operation.finish({ success: true, value: 1 })
    await clock.advance(1_000)
    await finishing
    expect(await locks.begin('pull', 'x', { node: 'n2' })).toEqual({ kind: 'skipped', value: 1 })
  })

  it('that is given up while the engine does not answer is called off as soon as it does', async () => {
    const { locks, clock, engine } = openVirtualLocks()
    engine.fail('begin', 'lose-answer', 5)
    const controller = new AbortController()
    const beginning = rejectionOf(
      locks.begin('pull', 'x', { node: 'n1', signal: controller.signal }),
    )
    await clock.advance(10)
    engine.heal()
    controller.abort()
    expect(await beginning).toMatchObject({ code: 'LOCK_ABORTED', applied: 'maybe' })
    await clock.settle()
    expect((await locks.inspect('x', { kind: 'operation' })).holders).toEqual([])
  })
})
