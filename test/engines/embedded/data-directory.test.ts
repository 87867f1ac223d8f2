import { chmod, cp, mkdtemp, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../../src/engine/engine.ts'
import { openFileEngine } from '../../../src/engines/embedded/embedded-engine.ts'
import { fileSystemWarnings } from '../../../src/engines/embedded/file-system-warnings.ts'

const TMPFS = 0x01021994
/** Where Linux has a file system in memory. */
const SHARED_MEMORY = '/dev/shm'
const OTHER_USER = 65_534

const created: string[] = []
let directory: string
beforeEach(async () => {
  directory = await create(tmpdir())
})
afterEach(async () => {
  for (const path of created.splice(0)) await rm(path, { recursive: true, force: true })
})

async function create(parent: string): Promise<string> {
  const path = await mkdtemp(join(parent, 'holdfast-directory-'))
  created.push(path)
  return path
}

async function acquire(engine: LockEngine, key: string): Promise<number> {
  const request = { key, owner: 'a', requestId: key, ttlMs: 600_000 }
  const outcome = await engine.apply({ kind: 'acquire', ...request })
  return outcome.kind === 'granted' ? outcome.token : 0
}

/** Copies as programs do that leave sockets out. */
function copyWithoutSockets(from: string, to: string): Promise<void> {
  return cp(from, to, {
    recursive: true,
    filter: async (path) => !(await stat(path)).isSocket(),
  })
}

/** Rights do not bind root, who becomes another user for the time. */
async function withoutRights<Result>(run: () => Promise<Result>): Promise<Result> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(OTHER_USER)
  try {
    return await run()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

describe.runIf(process.platform !== 'win32')('a data directory that cannot be written', () => {
  it('is refused with the directory, the reason, and what the system said', async () => {
    await (await openFileEngine(directory)).close()
    const before = (await readdir(directory)).sort()
    await chmod(directory, 0o555)
    const opening = withoutRights(() => openFileEngine(directory))
    await expect(opening).rejects.toMatchObject({
      code: 'LOCK_STORAGE_FAILED',
      applied: 'no',
      message: expect.stringMatching(
        `${directory} cannot be used, because this user has not .*EACCES`,
      ),
    })
    await chmod(directory, 0o755)
    expect((await readdir(directory)).sort()).toEqual(before)
  })

  it('is refused where a file is', async () => {
    const file = join(directory, 'file')
    await writeFile(file, '')
    await expect(openFileEngine(file)).rejects.toThrow(
      `${file} cannot be used, because it is a file`,
    )
  })
})

describe('a data directory that was copied', () => {
  it('after a stop has all that the first one had, and gives the next token', async () => {
    const engine = await openFileEngine(directory)
    await acquire(engine, 'orders/42')
    await engine.close()
    const copy = await create(tmpdir())
    await copyWithoutSockets(directory, copy)
    const other = await openFileEngine(copy)
    const { holders } = await other.read({ kind: 'inspect', key: 'orders/42' })
    expect(holders).toMatchObject([{ owner: 'a', token: 1 }])
    await other.close()
  })

  it('while a server ran is refused as its directory, with what to remove from a copy', async () => {
    const engine = await openFileEngine(directory)
    const copy = await create(tmpdir())
    await copyWithoutSockets(directory, copy)
    await expect(openFileEngine(copy)).rejects.toMatchObject({
      code: 'LOCK_DIRECTORY_OWNED',
      message: expect.stringContaining(
        `a copy that was made while that process ran, remove ${copy}/owner`,
      ),
    })
    await rm(join(copy, 'owner'), { recursive: true })
    await (await openFileEngine(copy)).close()
    await engine.close()
  })

  it('file by file while a server ran is refused where the log is older than the mark', async () => {
    const engine = await openFileEngine(directory, { journal: { numbersPerMark: 10 } })
    const copy = await create(tmpdir())
    const log = 'log-0000000001'
    await cp(join(directory, log), join(copy, log))
    for (let i = 0; i < 1_000; i++) await acquire(engine, `key ${i}`)
    await cp(join(directory, 'mark'), join(copy, 'mark'))
    await expect(openFileEngine(copy)).rejects.toMatchObject({
      code: 'LOCK_STORAGE_DAMAGED',
      message: expect.stringContaining(`holdfast repair ${copy}`),
    })
    expect(await acquire(engine, 'and on')).toBeGreaterThan(0)
    await engine.close()
  })
})

const hasSharedMemory =
  process.platform === 'linux' && (await statfs(SHARED_MEMORY).catch(() => null))?.type === TMPFS

describe.runIf(hasSharedMemory)('a data directory on another file system', () => {
  it('goes on where it was moved, and an operator is warned where it does not last', async () => {
    const first = await openFileEngine(directory)
    await acquire(first, 'orders/42')
    await first.close()
    const elsewhere = await create(SHARED_MEMORY)
    await copyWithoutSockets(directory, elsewhere)
    const engine = await openFileEngine(elsewhere)
    expect((await engine.read({ kind: 'inspect', key: 'orders/42' })).holders).toHaveLength(1)
    await engine.close()
    expect(await fileSystemWarnings(elsewhere)).toEqual([
      expect.stringMatching(`${elsewhere}: it is in memory .*gone when the machine stops`),
    ])
  })
})
