import { describe } from 'vitest'
import { checkNoEarlyExpiry } from '../../../src/testing/checks/early-expiry.ts'
import { Story } from './story.ts'
import { tellAll } from './tell.ts'

const held = (): Story => new Story().acquire('a', [0, 1], { token: 1, ttlMs: 100 })
const inSession = (): Story =>
  new Story().acquire('a', [0, 1], { token: 1, ttlMs: 100, session: 's' })
const early = 'its lease ran until'

describe('a lease', () => {
  tellAll(checkNoEarlyExpiry, [
    ['may pass at its time', null, held().mark('expired', 100, { owner: 'a', token: 1 })],
    ['does not pass before its time', early, held().mark('expired', 99, { owner: 'a', token: 1 })],
    [
      'counts anew from the call of a renewal',
      early,
      held()
        .op(['renew', 'a'], [50, 60], { ttlMs: 100 })
        .mark('expired', 149, { owner: 'a', token: 1 }),
    ],
    [
      'is not shortened by a renewal',
      early,
      held()
        .op(['renew', 'a'], [10, 11], { ttlMs: 20 })
        .mark('expired', 40, { owner: 'a', token: 1 }),
    ],
    [
      'is not sure to be longer after a lost renewal',
      null,
      held()
        .op(['renew', 'a'], [50, Infinity], { ttlMs: 100 })
        .mark('expired', 100, { owner: 'a', token: 1 }),
    ],
    [
      'is not over when its owner renews in time',
      early,
      held().refused(['renew', 'a'], [50, 51], 'not_holder'),
    ],
    [
      'is not over when its owner releases in time',
      early,
      held().refused(['release', 'a'], [50, 51], 'not_holder'),
    ],
    [
      'may be over when its owner is late',
      null,
      held().refused(['release', 'a'], [99, 101], 'not_holder'),
    ],
    [
      'may be over because its owner gave it up',
      null,
      held().release('a', [10, Infinity]).refused(['release', 'a'], [50, 51], 'not_holder'),
    ],
    [
      'may be over because an operator ended it',
      null,
      held().op(['force', 'op'], [10, 11]).refused(['renew', 'a'], [50, 51], 'not_holder'),
    ],
    [
      'is not over because a mode was never held',
      null,
      held().op(['release', 'a'], [50, 51], { mode: 'read', outcome: 'fail', code: 'not_holder' }),
    ],
    [
      'counts anew from the call of a heartbeat that was answered in time',
      early,
      inSession()
        .op(['session', 'a'], [50, 60], { session: 's', action: 'beat', ttlMs: 500 })
        .mark('expired', 149, { owner: 'a', token: 1 }),
    ],
    [
      'is not sure to be longer after a heartbeat that was answered too late',
      null,
      inSession()
        .op(['session', 'a'], [90, 110], { session: 's', action: 'beat', ttlMs: 500 })
        .mark('expired', 120, { owner: 'a', token: 1 }),
    ],
    [
      'of an earlier token may pass during the next hold',
      null,
      held()
        .acquire('a', [98, 105], { token: 2, ttlMs: 100 })
        .mark('expired', 106, { owner: 'a', token: 1 }),
    ],
  ])
})
