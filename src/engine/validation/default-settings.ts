import type { LawSettings } from '../../law/model/settings.ts'
import {
  HOLDERS_PER_KEY_MAX,
  REFERENCES_PER_RESOURCE_MAX,
  TTL_MS_DEFAULT,
  WAITERS_PER_KEY_MAX,
} from './limits.ts'

/** What the law goes by where the operator chose nothing else. */
export const DEFAULT_SETTINGS: LawSettings = Object.freeze({
  lanes: Object.freeze([]),
  coordination: 'server',
  multiNode: true,
  updateRequiresNoRef: false,
  retentionMs: 5 * 60_000,
  operationTtlMs: 60 * 60_000,
  lockTtlMs: TTL_MS_DEFAULT,
  waiterPatienceMs: 90_000,
  claimWindowMs: 10_000,
  openPatienceMs: Number.POSITIVE_INFINITY,
  waitersPerKeyMax: WAITERS_PER_KEY_MAX,
  holdersPerKeyMax: HOLDERS_PER_KEY_MAX,
  referencesPerResourceMax: REFERENCES_PER_RESOURCE_MAX,
})
