import { describe } from 'vitest'
import { checkDelete } from '../../../src/testing/checks/operations/delete.ts'
import { checkReferences } from '../../../src/testing/checks/operations/references.ts'
import { Story } from './story.ts'
import { tellAll } from './tell.ts'

const pulled = (): Story => new Story().begin('pull:n1', [0, 1]).finish('pull:n1', [2, 3])
const sees = (story: Story, ...refs: string[]): Story => {
  return story.check([10, 11], { space: 'operation', refs })
}

describe('references', () => {
  tellAll(checkReferences, [
    ['are those of the nodes that pulled', null, sees(pulled(), 'n1')],
    ['do not vanish', 'n1 is missing', sees(pulled())],
    ['are not invented', 'n2 is shown and has no', sees(pulled(), 'n1', 'n2')],
    ['are a set', 'n1 is shown twice', sees(pulled(), 'n1', 'n1')],
    [
      'count a skipped pull',
      'n2 is missing',
      sees(pulled().begin('pull:n2', [4, 5], { answer: 'skip' }), 'n1'),
    ],
    [
      'do not count a failed pull',
      'n1 is shown',
      sees(new Story().finish('pull:n1', [0, 1], { success: false }), 'n1'),
    ],
    ['do not count an update', 'n1 is shown', sees(new Story().finish('update:n1', [0, 1]), 'n1')],
    ['end with unref', null, sees(pulled().unref('n1', [4, 5]))],
    ['do not stay after unref', 'n1 is shown', sees(pulled().unref('n1', [4, 5]), 'n1')],
    [
      'end when a node drops all of its own',
      null,
      sees(pulled().unref('n1', [4, 5], { key: undefined })),
    ],
    [
      'do not end when another node drops its own',
      'n1 is missing',
      sees(pulled().unref('n2', [4, 5])),
    ],
    ['end with a delete', null, sees(pulled().finish('delete:n2', [4, 5]))],
    ['may be seen either way while they change', null, sees(pulled().unref('n1', [4, 10.5]))],
    ['may be seen either way while they change', null, sees(pulled().unref('n1', [4, 10.5]), 'n1')],
    ['may be gone after a lost unref', null, sees(pulled().unref('n1', [4, Infinity]))],
    ['may be there after a lost unref', null, sees(pulled().unref('n1', [4, Infinity]), 'n1')],
    [
      'may be there after a lost finish',
      null,
      sees(new Story().finish('pull:n1', [0, Infinity]), 'n1'),
    ],
    [
      'may be there after a lost skip',
      null,
      sees(new Story().begin('pull:n1', [0, Infinity]), 'n1'),
    ],
    [
      'may be there before a waiter is told of its skip',
      null,
      sees(pulled().begin('pull:n2', [1, 2], { answer: 'queued' }), 'n1', 'n2').begin(
        'pull:n2',
        [20, 21],
        {
          answer: 'skip',
        },
      ),
    ],
    [
      'are named by a refusal',
      'n2 is shown',
      pulled().op(['begin', 'delete:n3'], [4, 5], {
        type: 'delete',
        node: 'n3',
        outcome: 'fail',
        code: 'in_use',
        refs: ['n1', 'n2'],
      }),
    ],
  ])
})

describe('a delete', () => {
  tellAll(checkDelete, [
    [
      'is granted where nobody refers',
      null,
      pulled().unref('n1', [4, 5]).begin('delete:n2', [6, 7]),
    ],
    [
      'is not granted where somebody refers',
      'although n1 refers to it',
      pulled().begin('delete:n2', [6, 7]),
    ],
    [
      'may be granted while the last reference goes',
      null,
      pulled().unref('n1', [4, 6.5]).begin('delete:n2', [6, 7]),
    ],
    [
      'is refused where somebody refers',
      null,
      pulled().op(['begin', 'delete:n2'], [6, 7], {
        type: 'delete',
        node: 'n2',
        outcome: 'fail',
        code: 'in_use',
      }),
    ],
    [
      'is not refused where nobody refers',
      'although nobody refers',
      pulled().unref('n1', [4, 5]).op(['begin', 'delete:n2'], [6, 7], {
        type: 'delete',
        node: 'n2',
        outcome: 'fail',
        code: 'in_use',
      }),
    ],
    [
      'lets no pull be skipped while it runs',
      'while a delete was running',
      new Story()
        .begin('delete:n2', [0, 1])
        .begin('pull:n3', [2, 3], { answer: 'skip' })
        .finish('delete:n2', [4, 5]),
    ],
    [
      'lets a pull be skipped when it has failed',
      null,
      new Story()
        .begin('delete:n2', [0, 1])
        .finish('delete:n2', [4, 5], { success: false })
        .begin('pull:n3', [2, 6], { answer: 'skip' }),
    ],
    ['has no say over updates', null, pulled().begin('update:n2', [6, 7])],
  ])
  tellAll(
    checkDelete,
    [
      [
        'has a say over updates where they need it',
        'although n1 refers',
        pulled().begin('update:n2', [6, 7]),
      ],
    ],
    { updateRequiresNoRef: true },
  )
})
