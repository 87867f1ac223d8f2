import { afterAll, describe, expect, it } from 'vitest'
import { connect } from '../../../src/index.ts'

type Loose = Record<string, (...given: unknown[]) => unknown>

const NOT_OPTIONS: readonly unknown[] = [null, 5, 'options', true, () => {}]

const locks = await connect('memory:')
const loose = locks as unknown as Loose

afterAll(() => locks.close())

/** Whatever a call does with what it was handed, thrown at once or later. */
async function codeOf(call: () => unknown): Promise<string> {
  try {
    await call()
  } catch (error) {
    return (error as { readonly code?: string }).code ?? String(error)
  }
  return 'nothing was thrown'
}

const METHODS: readonly (readonly [string, readonly unknown[]])[] = [
  ['acquire', ['key']],
  ['tryAcquire', ['key']],
  ['acquireAll', [['key']]],
  ['once', ['key', () => 1]],
  ['begin', ['pull', 'resource']],
  ['unref', []],
  ['list', []],
  ['inspect', ['key']],
  ['history', []],
  ['watch', []],
  ['forceRelease', ['key']],
]

describe.each(METHODS)('%s', (method, given) => {
  it.each(NOT_OPTIONS)('refuses %s for options', async (options) => {
    expect(await codeOf(() => loose[method]?.(...given, options))).toBe('LOCK_INVALID_ARGUMENT')
  })
})

const CALLS: readonly (readonly [string, () => unknown])[] = [
  ['keys that are none', () => loose['acquireAll']?.([5, 6])],
  ['one key of several that is none', () => locks.acquireAll(['a', 'b\n'])],
  ['withLock without a function', () => loose['withLock']?.('key')],
  ['once without a function', () => loose['once']?.('key')],
  ['a signal that is none', () => locks.acquire('key', { signal: {} as AbortSignal })],
  ['a prefix that is none', () => locks.watch({ prefix: 5 as never })],
  ['a kind that is none', () => locks.watch({ kind: 'lease' as never })],
  ['connecting with null', () => connect('memory:', null as never)],
  ['connecting with a number', () => connect('memory:', 5 as never)],
  ['lanes that are a word', () => connect('memory:', { lanes: 'abc' as never })],
  ['lanes that are a number', () => connect('memory:', { lanes: 5 as never })],
  ['an owner with a line break', () => connect('memory:', { owner: 'a\nb' })],
  ['an owner that is not Unicode', () => connect('memory:', { owner: 'a\ud800' })],
]

it.each(CALLS)('%s is an invalid argument', async (_, call) => {
  expect(await codeOf(call)).toBe('LOCK_INVALID_ARGUMENT')
})

it('an upgrade refuses what is no options, and the lock is still held', async () => {
  await using lock = await locks.acquire('upgraded', { mode: 'read' })
  expect(await codeOf(() => lock.upgrade(null as never))).toBe('LOCK_INVALID_ARGUMENT')
  await lock.upgrade()
  expect(lock.mode).toBe('write')
})

it('an operation refuses an end without a result, and goes on', async () => {
  const begun = await locks.begin('pull', 'finished')
  if (begun.kind !== 'acquired') throw new Error('the resource was free')
  expect(await codeOf(() => begun.operation.finish(undefined as never))).toBe(
    'LOCK_INVALID_ARGUMENT',
  )
  await begun.operation.finish({ success: true })
})

it('nothing that was refused left anything behind', async () => {
  expect((await locks.list()).locks).toEqual([])
})
