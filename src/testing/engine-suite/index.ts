import { cancelAndTimeoutSuite } from './cancel-and-timeout.ts'
import { claimSuite } from './claim.ts'
import { concurrentHistoriesSuite } from './concurrent-histories.ts'
import { coordinationSuite } from './coordination.ts'
import { deadlockSuite } from './deadlock.ts'
import type { EngineSuite } from './engine-test.ts'
import { exclusionSuite } from './exclusion.ts'
import { expirySuite } from './expiry.ts'
import { fencingSuite } from './fencing.ts'
import { historySuite } from './history.ts'
import { idempotencySuite } from './idempotency.ts'
import { lanesSuite } from './lanes.ts'
import { limitsSuite } from './limits.ts'
import { namesSuite } from './names.ts'
import { noResidueSuite } from './no-residue.ts'
import { operationsSuite } from './operations.ts'
import { queueOrderSuite } from './queue-order.ts'
import { reEntrySuite } from './re-entry.ts'
import { readsSuite } from './reads.ts'
import { referencesSuite } from './references.ts'
import { releaseAndTakeOverSuite } from './release-and-take-over.ts'
import { renewalSuite } from './renewal.ts'
import { restartSuite } from './restart.ts'
import { sessionsSuite } from './sessions.ts'
import { skipSuite } from './skip.ts'
import { upgradeSuite } from './upgrade.ts'
import { wakeUpSuite } from './wake-up.ts'
import { watchSuite } from './watch.ts'

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
