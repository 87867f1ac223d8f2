import { describe, expect, it } from 'vitest'
import { LawStory } from '../world/law-story.ts'

const SKIP = { kind: 'skip', value: '"done"' }

function createDone(type = 'pull', settings = {}): LawStory {
  const story = new LawStory(settings)
  story.begin(type, 'm')
  story.finish(type, 'm', { value: '"done"' })
  return story
}

function references(story: LawStory): readonly string[] {
  return story.state('a', 'operation').references.map(({ node }) => node)
}

function running(story: LawStory): readonly string[] {
  return story.holders('a', 'operation')
}

describe('begin', () => {
  it('acquires a free resource, as type:node', () => {
    const story = new LawStory({ operationTtlMs: 5_000 })
    expect(story.begin('pull', 'm')).toMatchObject({ kind: 'granted', token: 1, leaseMs: 5_000 })
    expect(running(story)).toEqual(['pull:m'])
  })

  it.each(['pull', 'update', 'delete', 'index'])(
    'queues while a %s runs, whatever its type',
    (type) => {
      const story = new LawStory()
      story.begin(type, 'm')
      expect(story.begin('pull', 'n')).toEqual({ kind: 'queued', position: 1 })
      expect(story.begin('update', 'n')).toEqual({ kind: 'queued', position: 2 })
    },
  )

  it('is refused and not queued where there is one node at a time', () => {
    const story = new LawStory({ multiNode: false })
    story.begin('pull', 'm')
    expect(story.begin('pull', 'n')).toMatchObject({ code: 'held', holders: [{ owner: 'pull:m' }] })
    expect(story.queue('a', 'operation')).toEqual([])
  })

  it('by the holder gives it its standing and renews its lease', () => {
    const story = new LawStory()
    story.begin('pull', 'm', { ttlMs: 1_000 })
    story.tick(900)
    expect(story.begin('pull', 'm', { ttlMs: 1_000 })).toMatchObject({ token: 1, leaseMs: 1_000 })
    expect(story.begin('pull', 'm', { requestId: 'other' })).toMatchObject({ token: 1, writes: 1 })
  })

  it('by a waiter gives it its place and renews its patience', () => {
    const story = new LawStory({ waiterPatienceMs: 1_000 })
    story.begin('pull', 'm')
    story.begin('pull', 'n')
    story.tick(900)
    expect(story.begin('pull', 'n')).toEqual({ kind: 'queued', position: 1 })
    story.pass(900, 'operation')
    expect(story.queue('a', 'operation')).toEqual(['pull:n'])
    story.pass(100, 'operation')
    expect(story.told).toMatchObject([{ owner: 'pull:n', answer: { code: 'abandoned' } }])
  })

  it('for another version than the node is busy with is a bad request', () => {
    const story = new LawStory()
    story.begin('pull', 'm', { version: '1' })
    expect(story.begin('pull', 'm', { version: '2' })).toMatchObject({ code: 'bad_request' })
    expect(story.begin('pull', 'm')).toMatchObject({ code: 'bad_request' })
    expect(story.begin('pull', 'm', { version: '1' })).toMatchObject({ kind: 'granted' })
  })

  it('never times out in the queue', () => {
    const story = new LawStory()
    story.begin('pull', 'm', { ttlMs: 10_000_000 })
    story.begin('pull', 'n', { waitMs: 1_000 })
    story.pass(1_000_000, 'operation')
    expect(story.queue('a', 'operation')).toEqual(['pull:n'])
  })
})

describe('in use', () => {
  it('a delete is refused while nodes reference the resource, and names them', () => {
    const story = createDone()
    expect(story.begin('delete', 'n')).toEqual({
      kind: 'refused',
      code: 'in_use',
      nodes: ['m'],
    })
  })

  it('an update is not, unless it requires no reference', () => {
    expect(createDone().begin('update', 'n')).toMatchObject({ kind: 'granted' })
    const careful = createDone('pull', { updateRequiresNoRef: true })
    expect(careful.begin('update', 'n')).toMatchObject({ code: 'in_use', nodes: ['m'] })
  })

  it('is decided again when a queued delete reaches the head', () => {
    const story = createDone('pull')
    story.run({ kind: 'unref', resource: 'a', node: 'm' })
    story.begin('update', 'm')
    story.begin('delete', 'n')
    story.begin('index', 'n')
    expect(story.begin('pull', 'o')).toEqual(SKIP)
    story.finish('update', 'm')
    expect(story.told).toMatchObject([
      { owner: 'delete:n', answer: { code: 'in_use', nodes: ['o'] } },
      { owner: 'index:n', answer: { kind: 'granted' } },
    ])
  })
})

describe('done already', () => {
  it('whoever begins it again skips, with the value it left', () => {
    expect(createDone().begin('pull', 'n')).toEqual(SKIP)
  })

  it('a skipped pull counts a reference for its node, once', () => {
    const story = createDone()
    story.begin('pull', 'n')
    story.begin('pull', 'n')
    expect(references(story)).toEqual(['m', 'n'])
  })

  it('a skipped operation of another type counts none', () => {
    const story = createDone('update')
    expect(story.begin('update', 'n')).toEqual(SKIP)
    expect(references(story)).toEqual([])
  })

  it.each([
    [undefined, undefined, 'skip'],
    ['1', '1', 'skip'],
    ['1', undefined, 'granted'],
    [undefined, '1', 'granted'],
    ['1', '2', 'granted'],
  ])('version %s done and version %s asked: %s', (done, asked, kind) => {
    const story = new LawStory()
    story.begin('pull', 'm', { version: done })
    story.finish('pull', 'm')
    expect(story.begin('pull', 'n', { version: asked })).toMatchObject({ kind })
  })

  it('nobody skips while a delete runs: what it would skip is about to vanish', () => {
    const story = createDone()
    story.run({ kind: 'unref', resource: 'a', node: 'm' })
    story.begin('delete', 'm')
    expect(story.begin('pull', 'n')).toEqual({ kind: 'queued', position: 1 })
    story.finish('delete', 'm', { success: false })
    expect(story.told).toEqual([{ owner: 'pull:n', answer: SKIP }])
    expect(references(story)).toEqual(['n'])
  })

  it('everybody skips while an operation of another type runs', () => {
    const story = createDone()
    story.begin('update', 'm')
    expect(story.begin('pull', 'n')).toEqual(SKIP)
  })

  it('is forgotten after the retention', () => {
    const story = createDone('pull', { retentionMs: 1_000 })
    story.tick(999)
    expect(story.begin('pull', 'n')).toEqual(SKIP)
    story.tick(1)
    expect(story.begin('pull', 'o')).toMatchObject({ kind: 'granted' })
    expect(story.state('a', 'operation').remembered).toEqual([])
  })
})

describe('finish', () => {
  it.each<[string, (story: LawStory) => unknown]>([
    ['no such lock', (story) => story.finish('pull', 'm')],
    [
      'another node',
      (story) => {
        story.begin('pull', 'n')
        return story.finish('pull', 'm')
      },
    ],
    [
      'a waiter',
      (story) => {
        story.begin('pull', 'n')
        story.begin('pull', 'm')
        return story.finish('pull', 'm')
      },
    ],
    [
      'another type of the same node',
      (story) => {
        story.begin('update', 'm')
        return story.finish('pull', 'm')
      },
    ],
  ])('of %s is refused', (_, finish) => {
    expect(finish(new LawStory())).toEqual({ kind: 'refused', code: 'not_holder' })
  })

  it('under another token is refused', () => {
    const story = new LawStory()
    story.begin('pull', 'm')
    expect(story.finish('pull', 'm', { token: 9 })).toMatchObject({ code: 'stale_token' })
    expect(running(story)).toEqual(['pull:m'])
  })

  it('with success of a pull adds its node to the references', () => {
    expect(references(createDone('pull'))).toEqual(['m'])
  })

  it.each(['update', 'index'])('with success of %s leaves the references', (type) => {
    const story = createDone('pull')
    story.begin(type, 'n')
    story.finish(type, 'n')
    expect(references(story)).toEqual(['m'])
  })

  it('with success makes an earlier delete forgotten', () => {
    const story = createDone('delete')
    expect(story.begin('delete', 'n')).toEqual(SKIP)
    story.begin('update', 'm')
    story.finish('update', 'm')
    expect(story.begin('delete', 'n')).toMatchObject({ kind: 'granted' })
  })

  it('of a delete clears references and forgets every earlier success, whatever its type', () => {
    const story = createDone('index')
    story.begin('update', 'm')
    story.finish('update', 'm')
    story.begin('delete', 'm')
    story.finish('delete', 'm')
    expect(story.state('a', 'operation').remembered).toMatchObject([{ type: 'delete' }])
    expect(story.begin('index', 'n')).toMatchObject({ kind: 'granted' })
  })

  it('answers everyone queued for the same type and version with skip; others move up', () => {
    const story = new LawStory()
    story.begin('pull', 'm', { version: '1' })
    story.begin('pull', 'n', { version: '1' })
    story.begin('pull', 'o', { version: '2' })
    story.begin('update', 'p')
    story.begin('pull', 'q')
    story.begin('pull', 'r', { version: '1' })
    story.finish('pull', 'm', { value: '"done"' })
    expect(story.told).toMatchObject([
      { owner: 'pull:n', answer: SKIP },
      { owner: 'pull:r', answer: SKIP },
      { owner: 'pull:o', answer: { kind: 'granted' } },
    ])
    expect(references(story)).toEqual(['m', 'n', 'r'])
    expect(story.queue('a', 'operation')).toEqual(['update:p', 'pull:q'])
  })

  it('with failure remembers nothing, and the next is granted at once', () => {
    const story = new LawStory()
    story.begin('pull', 'm')
    story.begin('pull', 'n')
    const outcome = story.finish('pull', 'm', { success: false, error: 'disk full' })
    expect(outcome).toEqual({ kind: 'finished', success: false })
    expect(running(story)).toEqual(['pull:n'])
    expect(references(story)).toEqual([])
    expect(story.state('a', 'operation').remembered).toEqual([])
  })

  it('tells watchers how it ended', () => {
    const story = new LawStory()
    story.begin('pull', 'm')
    story.finish('pull', 'm', { value: '7' })
    const completed = { kind: 'completed', type: 'pull', node: 'm', success: true, value: '7' }
    expect(story.last.events).toContainEqual(expect.objectContaining(completed))
  })
})

describe('an operation that ends without its node', () => {
  it.each<[string, (story: LawStory) => unknown]>([
    ['expires', (story) => story.pass(1_000, 'operation')],
    ['is forced', (story) => story.run({ kind: 'force', key: 'a', namespace: 'operation' })],
  ])('because it %s has failed', (_, end) => {
    const story = new LawStory()
    story.begin('pull', 'm', { ttlMs: 1_000 })
    story.begin('pull', 'n')
    end(story)
    expect(running(story)).toEqual(['pull:n'])
    expect(references(story)).toEqual([])
    expect(story.finish('pull', 'm')).toMatchObject({ code: 'not_holder' })
  })

  it('is cancelled in the queue, and after a grant that it has not taken', () => {
    const story = new LawStory()
    story.begin('pull', 'm')
    story.begin('pull', 'n')
    const cancel = { kind: 'cancel', namespace: 'operation', key: 'a', owner: 'pull:n' } as const
    story.finish('pull', 'm', { success: false })
    expect(story.run(cancel)).toEqual({ kind: 'cancelled', cancelled: true })
    expect(running(story)).toEqual([])
    expect(story.run(cancel)).toEqual({ kind: 'cancelled', cancelled: false })
  })
})

describe('unref', () => {
  it('drops the reference of a node, and says how many are left', () => {
    const story = createDone()
    story.begin('pull', 'n')
    const drop = { kind: 'unref', resource: 'a', node: 'm' } as const
    expect(story.run(drop)).toEqual({ kind: 'unreferenced', removed: 1, count: 1 })
    expect(story.run(drop)).toEqual({ kind: 'unreferenced', removed: 0, count: 1 })
  })

  it('of the last node makes the resource deletable', () => {
    const story = createDone()
    story.run({ kind: 'unref', resource: 'a', node: 'm' })
    expect(story.begin('delete', 'n')).toMatchObject({ kind: 'granted' })
  })
})

describe('request ids of operations', () => {
  it('the default id may begin again after its end', () => {
    const story = createDone()
    story.run({ kind: 'unref', resource: 'a', node: 'm' })
    story.begin('delete', 'm')
    story.finish('delete', 'm')
    expect(story.begin('pull', 'm')).toMatchObject({ kind: 'granted' })
  })

  it('an explicit id is told how it ended, even while its node is busy again', () => {
    const story = new LawStory()
    story.begin('pull', 'm', { requestId: 'i' })
    story.finish('pull', 'm', { success: false })
    story.begin('pull', 'm', { requestId: 'j' })
    const late = story.begin('pull', 'm', { requestId: 'i' })
    expect(late).toMatchObject({ code: 'ended', end: 'failed' })
  })

  it('a finish takes effect once, however often it arrives', () => {
    const story = new LawStory()
    story.begin('index', 'm')
    const finish = { requestId: 'f', success: false }
    expect(story.finish('index', 'm', finish)).toEqual({ kind: 'finished', success: false })
    story.begin('index', 'm')
    expect(story.finish('index', 'm', finish)).toEqual({ kind: 'finished', success: false })
    expect(running(story)).toEqual(['index:m'])
  })
})

describe('a finish that was refused', () => {
  it('does not end what its node began since', () => {
    const story = new LawStory()
    const finish = { requestId: 'f' }
    expect(story.finish('pull', 'm', finish)).toMatchObject({ code: 'not_holder' })
    story.begin('pull', 'm')
    expect(story.finish('pull', 'm', finish)).toMatchObject({ code: 'not_holder' })
    expect(running(story)).toEqual(['pull:m'])
  })
})

describe('coordination', () => {
  it('by the client dissolves the queue of that type: each looks for itself', () => {
    const story = new LawStory({ coordination: 'client' })
    story.begin('pull', 'm')
    story.begin('pull', 'n')
    story.begin('update', 'o')
    story.begin('pull', 'p')
    story.finish('pull', 'm')
    expect(story.told).toMatchObject([
      { owner: 'pull:n', answer: { kind: 'dissolved', node: 'm' } },
      { owner: 'pull:p', answer: { kind: 'dissolved', node: 'm' } },
      { owner: 'update:o', answer: { kind: 'granted' } },
    ])
  })

  it('by the client remembers for late listeners only: nobody skips, nothing is referenced', () => {
    const story = createDone('pull', { coordination: 'client' })
    expect(story.state('a', 'operation').remembered).toMatchObject([{ replayOnly: true }])
    expect(references(story)).toEqual([])
    expect(story.begin('delete', 'n')).toMatchObject({ kind: 'granted' })
    expect(story.begin('pull', 'n')).toMatchObject({ kind: 'queued' })
  })

  it('by a mutex grants the next, and remembers nothing', () => {
    const story = new LawStory({ coordination: 'mutex' })
    story.begin('pull', 'm')
    story.begin('pull', 'n')
    story.finish('pull', 'm')
    expect(running(story)).toEqual(['pull:n'])
    expect(story.state('a', 'operation').remembered).toEqual([])
    expect(references(story)).toEqual([])
  })

  it('by the server leaves those alone who wait for themselves: they move up in their order', () => {
    const story = new LawStory()
    story.begin('pull', 'm')
    story.begin('pull', 'n', { coordination: 'mutex' })
    story.begin('pull', 'o', { coordination: 'client' })
    story.begin('pull', 'p')
    story.finish('pull', 'm')
    expect(story.told).toMatchObject([
      { owner: 'pull:p', answer: { kind: 'skip' } },
      { owner: 'pull:n', answer: { kind: 'granted' } },
    ])
    expect(story.queue('a', 'operation')).toEqual(['pull:o'])
    expect(references(story)).toEqual(['m', 'p'])
  })

  it('by the client dissolves nobody who counts on the server', () => {
    const story = new LawStory()
    story.begin('pull', 'm', { coordination: 'client' })
    story.begin('pull', 'n')
    story.begin('pull', 'o', { coordination: 'client' })
    story.finish('pull', 'm')
    expect(story.told).toMatchObject([
      { owner: 'pull:o', answer: { kind: 'dissolved', node: 'm' } },
      { owner: 'pull:n', answer: { kind: 'granted' } },
    ])
  })

  it('by the client leaves what the server remembers', () => {
    const story = createDone()
    story.begin('pull', 'n', { coordination: 'client' })
    story.finish('pull', 'n')
    expect(story.begin('pull', 'o')).toEqual(SKIP)
  })

  it.each(['client', 'mutex'] as const)('by %s deletes nothing that is in use', (coordination) => {
    const story = createDone()
    expect(story.begin('delete', 'n', { coordination })).toMatchObject({ code: 'in_use' })
  })

  it.each(['client', 'mutex'] as const)('by %s undoes what was done before', (coordination) => {
    const story = createDone()
    story.run({ kind: 'unref', resource: 'a', node: 'm' })
    story.begin('delete', 'n', { coordination })
    story.finish('delete', 'n')
    expect(story.begin('pull', 'o')).toMatchObject({ kind: 'granted' })
  })

  it('can be named by the one who begins', () => {
    const story = createDone()
    expect(story.begin('pull', 'n', { coordination: 'mutex' })).toMatchObject({ kind: 'granted' })
  })
})
