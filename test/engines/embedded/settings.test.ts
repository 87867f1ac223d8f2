import { expect, it } from 'vitest'
import { openMemoryEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import type { LawSettings } from '../../../src/law/model/settings.ts'

const BAD: readonly (readonly [string, Partial<LawSettings>])[] = [
  ['lanes', { lanes: ['a', 'b', 'a'] }],
  ['lanes', { lanes: Array.from({ length: 17 }, (_, index) => `lane-${index}`) }],
  ['lanes', { lanes: [''] }],
  ['coordination', { coordination: 'nobody' as 'mutex' }],
  ['multiNode', { multiNode: 'no' as unknown as boolean }],
  ['retentionMs', { retentionMs: 0 }],
  ['retentionMs', { retentionMs: Number.NaN }],
  ['lockTtlMs', { lockTtlMs: 1 }],
  ['claimWindowMs', { claimWindowMs: -1 }],
  ['waitersPerKeyMax', { waitersPerKeyMax: 0.5 }],
]

it.each(BAD)('a bad setting of %s is refused by its name', (field, settings) => {
  expect(() => openMemoryEngine({ settings })).toThrow(
    expect.objectContaining({ code: 'LOCK_INVALID_ARGUMENT', details: { field } }),
  )
})

it.each([0, 1.5, -1, 5000, Number.NaN])('%d shards are refused', (shards) => {
  expect(() => openMemoryEngine({ shards })).toThrow(/shards must be from 1 to 4096/)
})

it('settings that are fine open an engine', async () => {
  const settings = { lanes: ['delete', 'pull'], retentionMs: Number.POSITIVE_INFINITY }
  await openMemoryEngine({ settings, shards: 1 }).close()
})
