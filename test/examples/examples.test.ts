import { describe, expect, it } from 'vitest'
import { runExample, runTypeScript } from './run-example.ts'

const TIMEOUT_MS = 240_000

describe('the examples', { timeout: TIMEOUT_MS }, () => {
  it('three nodes take turns, and one of them builds the report', async () => {
    const lines = await runTypeScript('three-nodes/three-nodes.ts')
    expect(lines.at(-1)).toBe('Everyone has had a turn.')
    expect(lines.filter((line) => line.includes('builds the report'))).toHaveLength(1)
  })

  it('a service developer loses no addition, and a late write is refused', async () => {
    expect(await runTypeScript('service-developer/fenced-write.ts')).toEqual([
      'twelve additions by three processes: total 30',
      'another process had its turn meanwhile: total 130',
      'the slow process wakes up and writes: refused',
      'the slow process is told: LOCK_LOST',
      'total 130',
    ])
  })

  it('a hundred nodes of a platform team download a layer once', async () => {
    const lines = await runTypeScript('platform-team/pull-once.ts')
    expect(lines).toEqual([
      '100 nodes want sha256:4f06b3f7a2',
      'downloaded: 1, skipped: 99, failed: 0',
      'written to the storage: 1 times',
      '100 nodes want sha256:9b1c58e0d4, and the network of the first one is broken',
      'downloaded: 1, skipped: 98, failed: 1',
      'written to the storage: 1 times',
      'nodes that use sha256:4f06b3f7a2 now: 100',
      'deleting it: refused, it is in use',
    ])
  })

  it('a workflow engine is killed, another takes over, and nothing runs twice at once', async () => {
    expect(await runTypeScript('workflow-engine/workflow-engine.ts')).toEqual([
      'one engine is killed in the middle of node:42:delete-loop:2',
      'another takes over node:42:delete-loop:2',
      'done: 8 of 8',
      'begun twice: node:42:delete-loop:2',
      'by another engine: yes',
      'ran twice at once: no',
    ])
  })

  it('an operator sees who hangs, takes the lock away, and the others go on', async () => {
    const lines = await runExample('sh', ['examples/operator/who-holds-this.sh'])
    const text = lines.join('\n')
    expect(text).toMatch(/^nightly-report +lock +write +batch-1-\S+ .* 2 +\d+$/m)
    expect(text).toMatch(/^1 +batch-2-\S+ +write/m)
    expect(text).toMatch(/^2 +batch-3-\S+ +write/m)
    expect(text).toContain('Released nightly-report: 1 hold ended.')
    expect(text).toContain('batch-1 ended with 79')
    expect(text.indexOf('batch-2: done')).toBeLessThan(text.indexOf('batch-3: done'))
    expect(text).toMatch(/^nightly-report +batch-1-\S+ +write .* forced +\d+$/m)
  })
})
