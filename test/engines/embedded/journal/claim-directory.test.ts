import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, readdir, rename, rm, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { claimDirectory } from '../../../../src/engines/embedded/journal/owner/claim-directory.ts'
import {
  currentProcess,
  isRunning,
} from '../../../../src/engines/embedded/journal/owner/process-identity.ts'
import type { ClaimantAnswer, ClaimantOrder } from './claimant.ts'

const CLAIMANT = fileURLToPath(new URL('claimant.ts', import.meta.url))
const IS_LINUX = process.platform === 'linux'
/** Starting a process that compiles itself takes long on a busy machine. */
const SLOW = { timeout: 120_000 }
const INSTANCE = '0123456789abcdef'

let directory: string
const children: ChildProcess[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-claim-'))
})

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => killed(child, 'SIGKILL')))
  await rm(directory, { recursive: true, force: true })
})

async function startClaimant(): Promise<ChildProcess> {
  const child = fork(CLAIMANT, { execArgv: ['--import', 'tsx'] })
  children.push(child)
  await once(child, 'message')
  return child
}

async function order(child: ChildProcess, message: ClaimantOrder): Promise<ClaimantAnswer[]> {
  const answer = once(child, 'message')
  child.send(message)
  return (await answer)[0] as ClaimantAnswer[]
}

/** Has another process own the directory. */
async function startOwner(): Promise<ChildProcess> {
  const owner = await startClaimant()
  const answers = await order(owner, { kind: 'claim', directory, times: 1 })
  expect(answers).toEqual([{ isOwner: true, owner: owner.pid }])
  return owner
}

async function killed(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}

/** Leaves a claim as a process without a socket would. */
async function leaveClaim(claim: { pid: number; startedAt: string; boot: string }): Promise<void> {
  await mkdir(join(directory, 'owner'))
  const name = `${claim.pid}.${claim.startedAt}.${claim.boot}.${INSTANCE}`
  await writeFile(join(directory, 'owner', name), '')
}

describe('a data directory', SLOW, () => {
  it('is refused to a second process, which is told the pid of the first', async () => {
    const owner = await startOwner()
    const refused = claimDirectory(directory)
    await expect(refused).rejects.toMatchObject({ code: 'LOCK_DIRECTORY_OWNED' })
    await expect(refused).rejects.toMatchObject({ details: { pid: owner.pid, directory } })
    await expect(refused).rejects.toThrow(`process ${owner.pid}`)
    expect(await readdir(directory)).toEqual(['owner'])
  })

  it('is refused to a second part of the same process', async () => {
    const claim = await claimDirectory(directory)
    await expect(claimDirectory(directory)).rejects.toMatchObject({ details: { pid: process.pid } })
    await claim.release()
  })

  it('is free again after a release, which may be repeated', async () => {
    const first = await claimDirectory(directory)
    await Promise.all([first.release(), first.release()])
    const second = await claimDirectory(directory)
    await first.release()
    await expect(claimDirectory(directory)).rejects.toMatchObject({ code: 'LOCK_DIRECTORY_OWNED' })
    await second.release()
    expect(await readdir(directory)).toEqual([])
  })

  it('is free at once after its owner was killed', async () => {
    const owner = await startOwner()
    await killed(owner, 'SIGKILL')
    const claim = await claimDirectory(directory)
    await claim.release()
  })

  it('stays with an owner that is stopped', async () => {
    const owner = await startOwner()
    owner.kill('SIGSTOP')
    await expect(claimDirectory(directory)).rejects.toMatchObject({ details: { pid: owner.pid } })
    owner.kill('SIGCONT')
    await order(owner, { kind: 'release' })
    await (await claimDirectory(directory)).release()
  })

  it('stays with an owner whose pid means nothing here, as in another container', async () => {
    await startOwner()
    const [name = ''] = (await readdir(join(directory, 'owner'))).filter((n) => !n.endsWith('sock'))
    const elsewhere = name.replace(/^\d+\.\w+/, '1.1')
    await rename(join(directory, 'owner', name), join(directory, 'owner', elsewhere))
    await expect(claimDirectory(directory)).rejects.toMatchObject({ details: { pid: 1 } })
  })

  it.skipIf(!IS_LINUX)('may have a path that is longer than the name of a socket', async () => {
    const deep = join(directory, 'long'.repeat(20), 'path'.repeat(20))
    await mkdir(deep, { recursive: true })
    const claim = await claimDirectory(deep)
    expect((await readdir(join(deep, 'owner'))).join()).toContain('.sock')
    await expect(claimDirectory(deep)).rejects.toMatchObject({ code: 'LOCK_DIRECTORY_OWNED' })
    await claim.release()
  })

  it('with something unknown in the place of a claim is refused with its name', async () => {
    await mkdir(join(directory, 'owner'))
    await writeFile(join(directory, 'owner', 'notes.txt'), '')
    await expect(claimDirectory(directory)).rejects.toThrow(/notes\.txt is not a claim/)
    expect(await readdir(directory)).toEqual(['owner'])
  })
})

describe('a claim without a socket', SLOW, () => {
  it('is held by the process that it names', async () => {
    await leaveClaim(await currentProcess())
    await expect(claimDirectory(directory)).rejects.toMatchObject({ details: { pid: process.pid } })
  })

  it('of a process that was killed does not block', async () => {
    const owner = await startOwner()
    const sockets = (await readdir(join(directory, 'owner'))).filter((n) => n.endsWith('.sock'))
    for (const name of sockets) await unlink(join(directory, 'owner', name))
    await expect(claimDirectory(directory)).rejects.toMatchObject({ details: { pid: owner.pid } })
    await killed(owner, 'SIGKILL')
    await (await claimDirectory(directory)).release()
  })

  it.skipIf(!IS_LINUX)('does not block when its pid was given to another process', async () => {
    await leaveClaim({ ...(await currentProcess()), startedAt: '1' })
    await (await claimDirectory(directory)).release()
  })

  it.skipIf(!IS_LINUX)('does not block after the machine was started anew', async () => {
    await leaveClaim({ ...(await currentProcess()), boot: '00000000-0000-0000-0000-000000000000' })
    await (await claimDirectory(directory)).release()
  })

  it.skipIf(!IS_LINUX)(
    'of a dead process that its parent has not noticed does not block',
    async () => {
      // The first `sleep` ends at once; what replaces the shell never asks for it.
      const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 60'])
      children.push(parent)
      const [output] = (await once(parent.stdout, 'data')) as [Buffer]
      const pid = Number(output.toString())
      const status = async (): Promise<string[]> =>
        (await readFile(`/proc/${pid}/stat`, 'latin1')).split(') ')[1]?.split(' ') ?? []
      while ((await status())[0] !== 'Z') await new Promise(setImmediate)
      const { boot } = await currentProcess()
      const identity = { pid, startedAt: (await status())[19] ?? '', boot }
      expect(await isRunning(identity)).toBe(false)
      await leaveClaim(identity)
      await (await claimDirectory(directory)).release()
    },
  )
})

describe('a stale claim', SLOW, () => {
  const STALE = { pid: 999_999_999, startedAt: '1', boot: 'unknown' }

  it('is taken over by exactly one of twenty claimants in five processes', async () => {
    const processes = await Promise.all(Array.from({ length: 5 }, startClaimant))
    for (let round = 0; round < 10; round++) {
      await leaveClaim(STALE)
      const race = processes.map((child) => order(child, { kind: 'claim', directory, times: 4 }))
      const answers = (await Promise.all(race)).flat()
      const winners = answers.filter(({ isOwner }) => isOwner)
      expect(winners).toHaveLength(1)
      expect(new Set(answers.map(({ owner }) => owner))).toEqual(new Set([winners[0]?.owner]))
      const winner = processes.find(({ pid }) => pid === winners[0]?.owner) as ChildProcess
      await order(winner, { kind: 'release' })
      expect(await readdir(directory)).toEqual([])
    }
  })

  it('is taken over by exactly one of ten claimants in one process', async () => {
    for (let round = 0; round < 30; round++) {
      await leaveClaim(STALE)
      const claims = Array.from({ length: 10 }, () => claimDirectory(directory))
      const results = await Promise.allSettled(claims)
      const won = results.filter((result) => result.status === 'fulfilled')
      expect(won).toHaveLength(1)
      await won[0]?.value.release()
    }
  })

  it('leaves nothing behind, nor does a claimant that was killed on the way', async () => {
    const { pid, startedAt, boot } = STALE
    await leaveClaim(STALE)
    const abandoned = `owner-${pid}.${startedAt}.${boot}.${INSTANCE}`
    await mkdir(join(directory, abandoned))
    const claim = await claimDirectory(directory)
    expect(await readdir(directory)).toEqual(['owner'])
    await claim.release()
  })
})
