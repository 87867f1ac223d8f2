import { describe, expect, it } from 'vitest'
import { dumpHistory, loadHistory } from '../../src/testing/history.ts'
import { HistoryRecorder } from '../../src/testing/history-recorder.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'

async function recordRun(): Promise<HistoryRecorder> {
  const clock = new VirtualClock()
  const recorder = new HistoryRecorder(clock)
  const one = recorder.call({ proc: 'a', op: 'acquire', key: 'k', ttlMs: 100 })
  await clock.advance(5)
  const two = recorder.call({ proc: 'b', op: 'acquire', key: 'k', reqId: 'r2' })
  two.queued(1)
  one.ok({ token: 1, writes: 1 })
  recorder.mark('disconnect', { proc: 'b' })
  await clock.advance(5)
  two.info('ECONNRESET')
  recorder.call({ proc: 'c', op: 'release', key: 'k' }).fail('not_holder')
  recorder.call({ proc: 'c', op: 'check', key: 'k' })
  return recorder
}

describe('a recorded history', () => {
  it('holds one entry per operation, in the order of the calls, and the marks', async () => {
    const history = (await recordRun()).history()
    expect(history).toMatchObject([
      { kind: 'op', id: 0, proc: 'a', call: 0, outcome: 'ok', token: 1, ttlMs: 100 },
      { kind: 'op', id: 1, call: 5, outcome: 'info', code: 'ECONNRESET', position: 1 },
      { kind: 'mark', name: 'disconnect', proc: 'b' },
      { kind: 'op', id: 2, outcome: 'fail', code: 'not_holder' },
      { kind: 'op', id: 3, outcome: 'info', ret: Infinity },
    ])
  })

  it('stamps everything in the order it happened, even where the clock stands still', async () => {
    const [one, two, mark] = (await recordRun()).history()
    if (one?.kind !== 'op' || two?.kind !== 'op' || mark?.kind !== 'mark') throw new Error('order')
    const stamps = [one.call, two.call, two.queuedAt ?? 0, one.ret, mark.at]
    expect(stamps).toEqual([...new Set(stamps)].sort((a, b) => a - b))
    expect(stamps.map(Math.floor)).toEqual([0, 5, 5, 5, 5])
  })

  it('leaves the end of an unknown outcome open', async () => {
    const two = (await recordRun()).history()[1]
    expect(two).toMatchObject({ outcome: 'info', ret: Infinity })
  })

  it('takes one answer for each operation', () => {
    const recorder = new HistoryRecorder(new VirtualClock())
    const pending = recorder.call({ proc: 'a', op: 'acquire', key: 'k' })
    pending.queued(3)
    pending.queued(2)
    pending.ok()
    expect(() => pending.fail('held')).toThrow('already has its answer')
    expect(recorder.history()).toMatchObject([{ position: 3, outcome: 'ok' }])
  })

  it('does not change when it is recorded further', () => {
    const recorder = new HistoryRecorder(new VirtualClock())
    const pending = recorder.call({ proc: 'a', op: 'acquire', key: 'k' })
    const before = recorder.history()
    pending.ok({ token: 9 })
    expect(before).toMatchObject([{ outcome: 'info' }])
    expect(before[0]).not.toHaveProperty('token')
  })

  it('is the same after a dump and a load', async () => {
    const history = (await recordRun()).history()
    const text = dumpHistory(history)
    expect(text.split('\n')).toHaveLength(history.length + 1)
    expect(loadHistory(text)).toEqual(history)
  })

  it.each([
    ['a torn line', '{"kind":"op","call":1}\n{"kind":"o'],
    ['a line of another kind', '{"kind":"mark","at":1}\n{"kind":"event"}'],
    ['an operation without a call', '{"kind":"mark","at":1}\n{"kind":"op"}'],
    ['a line that is no object', '{"kind":"mark","at":1}\nnull'],
  ])('cannot be loaded from %s, and the error names the line', (_, text) => {
    expect(() => loadHistory(text)).toThrow(/line 2/)
  })
})
