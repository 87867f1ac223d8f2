import { cancelAndTimeoutSuite } from './queue/cancel-and-timeout.ts'
import { claimSuite } from './queue/claim.ts'
import { concurrentHistoriesSuite } from './store/concurrent-histories.ts'
import { coordinationSuite } from './operations/coordination.ts'
import { deadlockSuite } from './locks/deadlock.ts'
import type { EngineSuite } from './engine-test.ts'
import { exclusionSuite } from './locks/exclusion.ts'
import { expirySuite } from './locks/expiry.ts'
import { fencingSuite } from './locks/fencing.ts'
import { historySuite } from './store/history.ts'
import { idempotencySuite } from './store/idempotency.ts'
import { lanesSuite } from './queue/lanes.ts'
import { limitsSuite } from './store/limits.ts'
import { namesSuite } from './locks/names.ts'
import { noResidueSuite } from './store/no-residue.ts'
import { operationsSuite } from './operations/operations.ts'
import { queueOrderSuite } from './queue/queue-order.ts'
import { reEntrySuite } from './locks/re-entry.ts'
import { readsSuite } from './locks/reads.ts'
import { referencesSuite } from './operations/references.ts'
import { releaseAndTakeOverSuite } from './locks/release-and-take-over.ts'
import { renewalSuite } from './locks/renewal.ts'
import { restartSuite } from './store/restart.ts'
import { sessionsSuite } from './locks/sessions.ts'
import { skipSuite } from './operations/skip.ts'
import { upgradeSuite } from './locks/upgrade.ts'
import { wakeUpSuite } from './queue/wake-up.ts'
import { watchSuite } from './store/watch.ts'

/** Every suite that every engine passes. A new property is a new file and a new line here. */
export const ENGINE_SUITES: Readonly<Record<string, EngineSuite>> = {
  exclusion: exclusionSuite,
  fencing: fencingSuite,
  expiry: expirySuite,
  renewal: renewalSuite,
  'release-and-take-over': releaseAndTakeOverSuite,
  'queue-order': queueOrderSuite,
  lanes: lanesSuite,
  'wake-up': wakeUpSuite,
  claim: claimSuite,
  're-entry': reEntrySuite,
  upgrade: upgradeSuite,
  idempotency: idempotencySuite,
  'cancel-and-timeout': cancelAndTimeoutSuite,
  deadlock: deadlockSuite,
  operations: operationsSuite,
  skip: skipSuite,
  references: referencesSuite,
  coordination: coordinationSuite,
  sessions: sessionsSuite,
  names: namesSuite,
  limits: limitsSuite,
  reads: readsSuite,
  watch: watchSuite,
  history: historySuite,
  restart: restartSuite,
  'no-residue': noResidueSuite,
  'concurrent-histories': concurrentHistoriesSuite,
}
