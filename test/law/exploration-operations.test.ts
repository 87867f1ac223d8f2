import { describe, it } from 'vitest'
import { EXPLORATION_TIMEOUT_MS, exploreAndReport, isLong } from './world/explore-and-report.ts'
import { createOperationScope } from './world/operation-scopes.ts'

describe('law and naive model agree on every way that', () => {
  const timeout = EXPLORATION_TIMEOUT_MS
  const types = ['pull', 'update', 'delete']
  const nodes = ['m', 'n']
  const versions = [undefined]

  it('pull, update and delete of two nodes can take', { timeout }, () => {
    const scope = { name: 'operations', depth: isLong ? 6 : 5, types, nodes, versions }
    exploreAndReport(createOperationScope(scope), { states: 30_000, transitions: 181_000 })
  })

  it('pull and delete of three nodes can take', { timeout }, () => {
    const scope = {
      name: 'operations of three nodes',
      depth: isLong ? 6 : 5,
      types: ['pull', 'delete'],
      nodes: ['m', 'n', 'o'],
      versions,
    }
    exploreAndReport(createOperationScope(scope), { states: 27_000, transitions: 174_000 })
  })

  it('two versions can take', { timeout }, () => {
    const scope = {
      name: 'versions',
      depth: isLong ? 5 : 4,
      types: ['pull', 'delete'],
      nodes,
      versions: [undefined, '1', '2'],
    }
    exploreAndReport(createOperationScope(scope), { states: 26_000, transitions: 134_000 })
  })

  it('nodes that name their requests can take', { timeout }, () => {
    const scope = {
      name: 'operations with ids',
      depth: isLong ? 5 : 4,
      types: ['pull', 'delete'],
      nodes,
      versions,
      ids: ['i', undefined],
    }
    exploreAndReport(createOperationScope(scope), { states: 11_000, transitions: 60_000 })
  })

  it('updates can take that require no reference', { timeout }, () => {
    const settings = { updateRequiresNoRef: true }
    const scope = { name: 'careful updates', depth: isLong ? 5 : 4, types, nodes, versions }
    exploreAndReport(createOperationScope({ ...scope, settings }), {
      states: 5_200,
      transitions: 24_000,
    })
  })

  it('successes can take that are soon forgotten', { timeout }, () => {
    const settings = { retentionMs: 600 }
    const scope = { name: 'short memories', depth: isLong ? 6 : 5, types: ['pull', 'delete'] }
    exploreAndReport(createOperationScope({ ...scope, nodes, versions, settings }), {
      states: 1_900,
      transitions: 20_000,
    })
  })

  it('references can take that nodes do not come for', { timeout }, () => {
    const scope = createOperationScope({
      name: 'unclaimed references',
      depth: isLong ? 7 : 6,
      types: ['pull', 'delete'],
      nodes,
      versions,
      settings: {
        waiterPatienceMs: 60_000,
        operationTtlMs: 200_000,
        claimWindowMs: 200_000,
        retentionMs: 90_000,
      },
      tickMs: 30_000,
    })
    exploreAndReport(scope, { states: 3_300, transitions: 39_000 })
  })

  it.each(['client', 'mutex'] as const)(
    'operations coordinated by %s can take',
    { timeout },
    (coordination) => {
      const scope = createOperationScope({
        name: `operations coordinated by ${coordination}`,
        depth: isLong ? 6 : 5,
        types: ['pull', 'update'],
        nodes,
        versions,
        settings: { coordination },
      })
      exploreAndReport(scope, { states: 1_700, transitions: 16_000 })
    },
  )

  it('operations of all three kinds can take side by side', { timeout }, () => {
    const scope = createOperationScope({
      name: 'operations of all three kinds',
      depth: isLong ? 6 : 5,
      types: ['pull'],
      nodes,
      versions,
      kinds: ['server', 'client', 'mutex'],
    })
    exploreAndReport(scope, { states: 1_390, transitions: 14_500 })
  })

  it('operations can take that are not queued', { timeout }, () => {
    const scope = createOperationScope({
      name: 'operations that are not queued',
      depth: isLong ? 7 : 6,
      types,
      nodes,
      versions,
      settings: { multiNode: false },
    })
    exploreAndReport(scope, { states: 450, transitions: 8_600 })
  })
})
