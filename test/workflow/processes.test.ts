import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { openWorkflowLeases } from '../../src/workflow/open-workflow-leases.ts'
import type { WorkflowLeases } from '../../src/workflow/workflow-leases.ts'
import { MYSQL, POSTGRES, SQLITE } from '../engines/sql/test-servers.ts'
import { useServer } from '../engines/sql/use-server.ts'
import type { Order } from './lease-process.ts'

const PROGRAM = fileURLToPath(new URL('lease-process.ts', import.meta.url))
const START_MS_MAX = 120_000
const COUNT = 25
const LEASE_MS = 6_000

describe.each([SQLITE, POSTGRES, MYSQL])('two processes on $name', (kind) => {
  const server = useServer(kind)
  const children: ChildProcess[] = []
  const opened: WorkflowLeases[] = []

  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    await Promise.all(opened.splice(0).map((leases) => leases.close()))
  })

  async function createUrl(): Promise<string> {
    const where = await server.create()
    return kind.name === 'sqlite' ? `sqlite:${where}` : where
  }

  async function start(url: string, owner: string): Promise<ChildProcess> {
    const child = fork(PROGRAM, [url, owner], { execArgv: ['--import', 'tsx'] })
    children.push(child)
    await Promise.race([once(child, 'message'), once(child, 'exit')])
    expect(child.exitCode).toBeNull()
    return child
  }

  async function order<T>(child: ChildProcess, what: Order): Promise<T> {
    const answered = once(child, 'message') as Promise<[T]>
    child.send(what)
    return (await answered)[0]
  }

  it(
    'that ask first for the same locks get one "true" and one "false" for each',
    async () => {
      const url = await createUrl()
      const racers = await Promise.all([start(url, 'a'), start(url, 'b')])
      const [one = [], other = []] = await Promise.all(
        racers.map((child) => order<boolean[]>(child, { kind: 'race', count: COUNT })),
      )
      expect(one).toHaveLength(COUNT)
      expect(other).toEqual(one.map((isMine) => !isMine))
    },
    START_MS_MAX,
  )

  it(
    'take over from each other when one is killed and its lease has run out, and not before',
    async () => {
      const url = await createUrl()
      const leases = await openWorkflowLeases(url)
      opened.push(leases)
      const holder = await start(url, 'a')
      const key = 'node:1:held'
      expect(await order(holder, { kind: 'hold', key, leaseMs: LEASE_MS })).toBe(true)
      const first = await leases.checkLock(key)
      // It is renewed, so it is there for longer than the first lease.
      await expect
        .poll(async () => (await leases.checkLock(key))?.expiresAt.getTime() ?? 0)
        .toBeGreaterThan((first?.expiresAt.getTime() ?? 0) + LEASE_MS / 4)
      const gone = once(holder, 'exit')
      holder.kill('SIGKILL')
      await gone
      expect(await leases.acquireLock(key, 'b', 'node', LEASE_MS)).toBe(false)
      const last = await leases.checkLock(key)
      expect(last).toMatchObject({ owner: 'a', token: first?.token })
      await expect.poll(() => leases.acquireLock(key, 'b', 'node', 60_000)).toBe(true)
      const taken = await leases.checkLock(key)
      expect(taken?.owner).toBe('b')
      expect(taken?.token).toBeGreaterThan(last?.token ?? 0)
      expect(Number(taken?.createdAt)).toBeGreaterThanOrEqual(Number(last?.expiresAt))
    },
    START_MS_MAX,
  )
})
