import { describe } from 'vitest'
import { checkSkip } from '../../../src/testing/checks/operations/skip.ts'
import { Story } from './story.ts'
import { tellAll } from './tell.ts'

const pulled = (fields: Parameters<Story['finish']>[2] = {}): Story =>
  new Story().begin('pull:n1', [0, 1]).finish('pull:n1', [2, 3], fields)

const pulledVersion = (version: string): Story =>
  new Story().begin('pull:n1', [0, 1], { version }).finish('pull:n1', [2, 3])

const skip = { answer: 'skip' } as const

describe('skip', () => {
  tellAll(
    checkSkip,
    [
      ['follows a success', null, pulled().begin('pull:n2', [4, 5], skip)],
      ['needs a success', 'without any success', new Story().begin('pull:n2', [4, 5], skip)],
      [
        'does not follow a failure',
        'without any success',
        pulled({ success: false }).begin('pull:n2', [4, 5], skip),
      ],
      [
        'does not follow another type',
        'without any success',
        pulled().begin('update:n2', [4, 5], skip),
      ],
      [
        'does not come before the success',
        'after the success had gone',
        pulled().begin('pull:n2', [0, 1], skip),
      ],
      ['may overtake the answer of the success', null, pulled().begin('pull:n2', [1, 2.5], skip)],
      [
        'may follow a success whose answer was lost',
        null,
        new Story()
          .begin('pull:n1', [0, 1])
          .finish('pull:n1', [2, Infinity])
          .begin('pull:n2', [90, 91], skip),
      ],
      [
        'follows the same version',
        null,
        pulledVersion('v1').begin('pull:n2', [4, 5], { ...skip, version: 'v1' }),
      ],
      [
        'does not follow another version',
        'without any success',
        pulledVersion('v1').begin('pull:n2', [4, 5], { ...skip, version: 'v2' }),
      ],
      [
        'of no version does not follow a version',
        'without any success',
        pulledVersion('v1').begin('pull:n2', [4, 5], skip),
      ],
      [
        'of a version does not follow a success without one',
        'without any success',
        pulled().begin('pull:n2', [4, 5], { ...skip, version: 'v2' }),
      ],
      [
        'does not survive a delete',
        'after the success had gone',
        pulled().finish('delete:n3', [4, 5]).begin('pull:n2', [6, 7], skip),
      ],
      [
        'survives a delete that failed',
        null,
        pulled().finish('delete:n3', [4, 5], { success: false }).begin('pull:n2', [6, 7], skip),
      ],
      [
        'is over when the success is forgotten',
        'after the success had gone',
        pulled().begin('pull:n2', [1_004, 1_005], skip),
      ],
      [
        'brings the value',
        null,
        pulled({ value: '1' }).begin('pull:n2', [4, 5], { ...skip, value: '1' }),
      ],
      [
        'brings no other value',
        'a value that nobody left',
        pulled({ value: '1' }).begin('pull:n2', [4, 5], { ...skip, value: '2' }),
      ],
      [
        'is the answer where the work is done',
        'work that was done',
        pulled().begin('pull:n2', [4, 5]),
      ],
      ['is not asked of a grant that was made before', null, pulled().begin('pull:n2', [2, 5])],
      ['is not asked of a grant after the memory', null, pulled().begin('pull:n2', [900, 1_005])],
      [
        'is not asked of a grant after a delete',
        null,
        pulled().finish('delete:n3', [4, 5]).begin('pull:n2', [6, 7]),
      ],
      [
        'is not asked where clients coordinate themselves',
        null,
        new Story()
          .finish('pull:n1', [2, 3], { coordination: 'mutex' })
          .begin('pull:n2', [4, 5], { coordination: 'mutex' }),
      ],
      [
        'of a delete does not survive a pull',
        'after the success had gone',
        new Story()
          .finish('delete:n1', [0, 1])
          .finish('pull:n1', [2, 3])
          .begin('delete:n2', [4, 5], skip),
      ],
    ],
    { retentionMs: 1_000 },
  )

  tellAll(
    checkSkip,
    [
      [
        'may be answered for longer where a restart counts anew',
        null,
        pulled().begin('pull:n2', [1_500, 1_501], skip),
      ],
      [
        'is over at the latest when it could not have been remembered any longer',
        'after the success had gone',
        pulled().begin('pull:n2', [2_500, 2_501], skip),
      ],
      [
        'is due only as long as it must be remembered',
        null,
        pulled().begin('pull:n2', [1_500, 1_501], { token: 2 }),
      ],
      [
        'is due as long as it must be remembered',
        'was granted work that was done',
        pulled().begin('pull:n2', [500, 501], { token: 2 }),
      ],
    ],
    { retentionMs: 1_000, retentionMsMax: 2_000 },
  )
})
