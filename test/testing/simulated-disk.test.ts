import { describe, expect, it } from 'vitest'

import type { Disk, DiskFile } from '../../src/engines/embedded/journal/disk.ts'
import { Random } from '../../src/testing/random.ts'
import { type DiskFault, SimulatedDisk } from '../../src/testing/simulated-disk.ts'

const SEEDS = 100

function createDisk(seed: number | string, fault?: () => DiskFault | undefined): SimulatedDisk {
  return new SimulatedDisk({ random: new Random(seed), ...(fault && { fault }) })
}

async function createDurable(disk: Disk, name: string, bytes: Uint8Array): Promise<DiskFile> {
  const file = await disk.create(name, 'buffered')
  await file.write(bytes, 0)
  await file.sync()
  await disk.syncDirectory()
  return file
}

/** What all seeds together make of the same program, each outcome once. */
async function outcomes(program: (seed: number) => Promise<string>): Promise<Set<string>> {
  const found = new Set<string>()
  for (let seed = 1; seed <= SEEDS; seed++) found.add(await program(seed))
  return found
}

describe('a simulated disk that loses its power', () => {
  it('keeps what was synced', async () => {
    const found = await outcomes(async (seed) => {
      const disk = createDisk(seed)
      await createDurable(disk.mount(), 'a', Buffer.from('synced'))
      disk.crash()
      return disk.contents('a').toString()
    })
    expect([...found]).toEqual(['synced'])
  })

  it('may keep, lose or tear what was not, at any byte', async () => {
    const found = await outcomes(async (seed) => {
      const disk = createDisk(seed)
      const file = await createDurable(disk.mount(), 'a', Buffer.from('......'))
      await file.write(Buffer.from('abcdef'), 0)
      expect(disk.contents('a').toString()).toBe('abcdef')
      disk.crash()
      return disk.contents('a').toString()
    })
    const prefixes = Array.from({ length: 7 }, (_, i) => 'abcdef'.slice(0, i).padEnd(6, '.'))
    expect([...found].sort()).toEqual(prefixes.sort())
  })

  it('may keep later sectors of a write and lose earlier ones', async () => {
    const found = await outcomes(async (seed) => {
      const disk = createDisk(seed)
      const file = await createDurable(disk.mount(), 'a', Buffer.alloc(1024, '.'))
      await file.write(Buffer.alloc(1024, 'x'), 0)
      disk.crash()
      const contents = disk.contents('a').toString()
      return `${contents[0]}${contents[1023]}`
    })
    expect([...found].sort()).toEqual(['..', '.x', 'x.', 'xx'])
  })

  it('may keep or lose each name that was made, changed or removed since the last sync', async () => {
    const found = await outcomes(async (seed) => {
      const disk = createDisk(seed)
      const mount = disk.mount()
      await createDurable(mount, 'a', Buffer.from('a'))
      await createDurable(mount, 'b', Buffer.from('b'))
      await mount.create('c', 'buffered')
      await mount.rename('a', 'd')
      await mount.remove('b')
      disk.crash()
      return disk.names().join('')
    })
    expect([...found].sort()).toEqual(['ab', 'abc', 'ac', 'bcd', 'bd', 'cd', 'd', 'a'].sort())
  })

  it('never answers a process of the life before', async () => {
    const disk = createDisk('lives')
    const mount = disk.mount()
    const file = await createDurable(mount, 'a', Buffer.from('a'))
    let answered = 0
    const note = (): void => void answered++
    void mount.list().then(note, note)
    disk.crash()
    void file.write(Buffer.from('b'), 0).then(note, note)
    void mount.remove('a').then(note, note)
    await disk.mount().list()
    expect(answered).toBe(0)
    expect(disk.contents('a').toString()).toBe('a')
  })
})

describe('a simulated disk', () => {
  it('keeps all that is visible when only the process is killed, and loses it later', async () => {
    const found = await outcomes(async (seed) => {
      const disk = createDisk(seed)
      const file = await createDurable(disk.mount(), 'a', Buffer.from('.'))
      await file.write(Buffer.from('x'), 0)
      disk.kill()
      expect(disk.contents('a').toString()).toBe('x')
      disk.crash()
      return disk.contents('a').toString()
    })
    expect([...found].sort()).toEqual(['.', 'x'])
  })

  it('forgets after a failed sync what a later sync does not bring back', async () => {
    const found = await outcomes(async (seed) => {
      let fault: DiskFault | undefined
      const disk = createDisk(seed, () => fault)
      const file = await createDurable(disk.mount(), 'a', Buffer.from('.'))
      await file.write(Buffer.from('x'), 0)
      fault = { kind: 'error', code: 'EIO' }
      await expect(file.sync()).rejects.toMatchObject({ code: 'EIO' })
      fault = undefined
      await file.sync()
      expect(disk.contents('a').toString()).toBe('x')
      disk.crash()
      return disk.contents('a').toString()
    })
    expect([...found].sort()).toEqual(['.', 'x'])
  })

  it('counts a synced write as a write and a sync', async () => {
    const kinds: string[] = []
    const disk = new SimulatedDisk({
      random: new Random('count'),
      fault: ({ kind }) => void kinds.push(kind) as undefined,
    })
    const file = await disk.mount().create('a', 'synced')
    await file.write(Buffer.from('a'), 0)
    expect(kinds).toEqual(['create', 'write', 'sync'])
    expect({ operations: disk.operations, syncs: disk.syncs }).toEqual({ operations: 3, syncs: 1 })
  })

  it('does the same again with the same seed', async () => {
    const run = async (): Promise<string> => {
      const disk = createDisk('again')
      const file = await createDurable(disk.mount(), 'a', Buffer.alloc(5000, '.'))
      for (let i = 0; i < 10; i++) await file.write(Buffer.alloc(900, `${i}`), i * 450)
      disk.crash()
      return disk.contents('a').toString()
    }
    expect(await run()).toBe(await run())
  })

  it('answers in the order of the calls, when the given function lets it', async () => {
    const waiting: (() => void)[] = []
    const disk = new SimulatedDisk({
      random: new Random('defer'),
      defer: (run) => void waiting.push(run),
    })
    const answers: string[] = []
    const first = disk.mount().create('a', 'buffered')
    const second = disk.mount().list()
    void first.then(() => answers.push('create'))
    void second.then((names) => answers.push(...names))
    expect(answers).toEqual([])
    for (const run of waiting) run()
    await Promise.all([first, second])
    expect(answers).toEqual(['create', 'a'])
  })
})
