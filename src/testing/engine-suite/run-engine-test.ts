import { DEFAULT_SETTINGS } from '../../engine/validation/default-settings.ts'
import type { LawSettings } from '../../law/model/settings.ts'
import type { EngineFixture, OpenedEngine } from './engine-fixture.ts'
import { EngineRig } from './engine-rig.ts'
import type { EngineNeed, EngineTest } from './engine-test.ts'

/** What became of a test that did not fail; one that fails throws. */
export type EngineTestResult =
  | { readonly kind: 'passed' }
  | { readonly kind: 'skipped'; readonly reason: string }

/** Run one test on a fresh engine. */
export async function runEngineTest(
  fixture: EngineFixture,
  test: EngineTest,
): Promise<EngineTestResult> {
  const opened = await fixture.open({ settings: toSettings(fixture, test) })
  let result: EngineTestResult = { kind: 'passed' }
  try {
    const reason = findMissing(fixture, opened, test.needs)
    if (reason === null) await test.run(new EngineRig(fixture, opened))
    else result = { kind: 'skipped', reason }
  } catch (failure) {
    // What the test found says more than what closing after it may find.
    await opened.close().catch(() => {})
    throw failure
  }
  await opened.close()
  return result
}

function toSettings(fixture: EngineFixture, test: EngineTest): Partial<LawSettings> {
  const scale = fixture.realTime?.scale
  if (scale === undefined) return test.settings ?? {}
  const settings = { ...DEFAULT_SETTINGS, ...test.settings }
  return {
    ...settings,
    retentionMs: settings.retentionMs * scale,
    operationTtlMs: settings.operationTtlMs * scale,
    lockTtlMs: settings.lockTtlMs * scale,
    waiterPatienceMs: settings.waiterPatienceMs * scale,
    claimWindowMs: settings.claimWindowMs * scale,
  }
}

function findMissing(
  fixture: EngineFixture,
  opened: OpenedEngine,
  need: EngineNeed | undefined,
): string | null {
  const { capabilities } = opened.engine
  switch (need) {
    case undefined:
      return null
    case 'virtual-time':
      return fixture.realTime === undefined ? null : 'it would take too long on a real clock'
    case 'deadlocks':
      return capabilities.seesDeadlocks ? null : 'the engine does not promise to see deadlocks'
    case 'durable':
      return capabilities.durable ? null : 'the engine does not promise to survive a restart'
    case 'durable-queue':
      return capabilities.queueSurvivesRestart ? null : 'the engine does not promise to keep queues'
    case 'durable-history':
      return capabilities.durable && capabilities.history
        ? null
        : 'the engine does not promise to keep a history through a restart'
    case 'history':
      return capabilities.history ? null : 'the engine does not promise to keep a history'
    case 'shared':
      return capabilities.shared ? null : 'the engine does not promise to share its store'
  }
}
