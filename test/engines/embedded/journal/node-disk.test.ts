import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { Journal } from '../../../../src/engines/embedded/journal/journal.ts'
import { NodeDisk } from '../../../../src/engines/embedded/journal/node-disk.ts'
import { ListOwner } from './list-owner.ts'

const APPENDER = fileURLToPath(new URL('appender.ts', import.meta.url))
const KILLS = 3
/** Starting a process that compiles itself takes long on a busy machine. */
const SLOW = { timeout: 120_000 }

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-disk-'))
})
afterEach(async () => {
  await rm(directory, { recursive: true, force: true })
})

async function openIn(path: string): Promise<{ journal: Journal; owner: ListOwner }> {
  const owner = new ListOwner()
  const journal = await Journal.open(await NodeDisk.open(path), owner, { compactMinBytes: 2 ** 30 })
  return { journal, owner }
}

describe('a directory of the file system', () => {
  it('makes, finds, renames and removes files', async () => {
    const disk = await NodeDisk.open(join(directory, 'some', 'where'))
    const file = await disk.create('a', 'buffered')
    await expect(disk.create('a', 'buffered')).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(disk.open('b', 'buffered')).rejects.toMatchObject({ code: 'ENOENT' })
    await disk.rename('a', 'b')
    await disk.syncDirectory()
    expect(await disk.list()).toEqual(['b'])
    await disk.remove('b')
    await disk.remove('b')
    expect(await disk.list()).toEqual([])
    await file.close()
  })

  it('is made once by many who want it at the same time, with its parents', async () => {
    const path = join(directory, 'some', 'where', 'else')
    await Promise.all(Array.from({ length: 8 }, () => NodeDisk.open(path)))
    expect((await stat(path)).isDirectory()).toBe(true)
  })

  it('is refused where a file is, or is on the way', async () => {
    await writeFile(join(directory, 'file'), '')
    const open = (...names: string[]): Promise<NodeDisk> => NodeDisk.open(join(directory, ...names))
    await expect(open('file')).rejects.toMatchObject({ code: 'EEXIST' })
    await expect(open('file', 'below')).rejects.toMatchObject({ code: 'ENOTDIR' })
  })

  it.runIf(process.platform === 'linux')('is refused where the system has no place', async () => {
    await expect(NodeDisk.open('/proc/holdfast/data')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it.each(['buffered', 'synced'] as const)('writes and reads a %s file anywhere', async (mode) => {
    const disk = await NodeDisk.open(directory)
    const file = await disk.create('a', mode)
    await file.write(Buffer.from('end'), 5)
    await file.write(Buffer.from('start'), 0)
    await file.sync()
    expect(await file.size()).toBe(8)
    const into = Buffer.alloc(20)
    expect(await file.read(into, 3)).toBe(5)
    expect(into.toString('latin1', 0, 5)).toBe('rtend')
    await file.truncate(2)
    expect(await file.size()).toBe(2)
    await file.close()
  })

  it('shows what it stores to nobody else', async () => {
    const { journal } = await openIn(join(directory, 'data'))
    const modes = ['data', 'data/log-0000000001'].map((name) => stat(join(directory, name)))
    expect((await Promise.all(modes)).map(({ mode }) => mode & 0o077)).toEqual([0, 0])
    await journal.close()
  })

  it('keeps a journal beside files that belong to others', async () => {
    await writeFile(join(directory, 'notes.tmp'), 'mine')
    await mkdir(join(directory, 'owner'))
    for (let life = 0; life < 3; life++) {
      const { journal, owner } = await openIn(directory)
      expect(owner.list).toEqual(Array.from({ length: life }, () => 'record'))
      await journal.append(Buffer.from('record'))
      await journal.close()
    }
    const names = ['log-0000000001', 'mark', 'notes.tmp', 'owner']
    expect((await readdir(directory)).sort()).toEqual(names)
  })
})

describe('a process that is killed while it appends', () => {
  it('has lost nothing that was acknowledged', SLOW, async () => {
    for (let round = 0; round < KILLS; round++) {
      const child = fork(APPENDER, [directory], { execArgv: ['--import', 'tsx'] })
      let acknowledged = 0
      await new Promise<void>((resolve) => {
        let count = 0
        child.on('message', (number: number) => {
          acknowledged = Math.max(acknowledged, number)
          if (++count === 1000 + round * 300) resolve()
        })
      })
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
      const { journal, owner } = await openIn(directory)
      expect(owner.list).toEqual(Array.from(owner.list, (_, i) => String(i + 1)))
      expect(owner.list.length).toBeGreaterThanOrEqual(acknowledged)
      await journal.close()
    }
    expect((await readdir(directory)).join()).toContain('snapshot-')
  })
})

const run = (command: string, ...options: string[]): Buffer =>
  execFileSync(command, options, { stdio: 'pipe' })

/** Why a small file system cannot be mounted here, or null when it can. */
function reasonNotToMount(): string | null {
  if (process.platform !== 'linux') return 'not on Linux'
  if (process.getuid?.() !== 0) return 'needs root to mount a tmpfs'
  try {
    const probe = mkdtempSync(join(tmpdir(), 'holdfast-probe-'))
    run('mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe)
    run('umount', probe)
    rmdirSync(probe)
    return null
  } catch (error) {
    return `mounting a tmpfs is not permitted: ${String(error)}`
  }
}

const reason = reasonNotToMount()

describe('a disk that is full', SLOW, () => {
  it.skipIf(reason !== null)(
    `loses nothing that was acknowledged, and works again with more room${reason === null ? '' : ` (left out: ${reason})`}`,
    async () => {
      run('mount', '-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', directory)
      try {
        const { journal } = await openIn(directory)
        const written: string[] = []
        const append = async (): Promise<void> => {
          for (let i = 0; ; i++) {
            const record = `${i} `.padEnd(10_000, 'x')
            await journal.append(Buffer.from(record))
            written.push(record)
          }
        }
        await expect(append()).rejects.toMatchObject({
          code: 'LOCK_STORAGE_FAILED',
          applied: 'maybe',
          cause: { code: 'ENOSPC' },
        })
        expect(written.length).toBeGreaterThan(50)
        await expect(journal.append(Buffer.from('more'))).rejects.toMatchObject({ applied: 'no' })
        await journal.close()

        run('mount', '-o', 'remount,size=8m', directory)
        const { journal: again, owner } = await openIn(directory)
        expect(owner.list.slice(0, written.length)).toEqual(written)
        expect(owner.list.length - written.length).toBeLessThanOrEqual(1)
        await again.append(Buffer.from('more'))
        await again.close()
      } finally {
        run('umount', directory)
      }
    },
  )
})
