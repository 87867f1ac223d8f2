import { describe, expect, it } from 'vitest'

import { Journal } from '../../../../src/engines/embedded/journal/journal.ts'
import { isLockError, type LockError } from '../../../../src/engine/errors/errors.ts'
import { Random } from '../../../../src/testing/random.ts'
import { type DiskOperation, SimulatedDisk } from '../../../../src/testing/simulated-disk.ts'
import { ListOwner } from './list-owner.ts'

const OPTIONS = { preallocateBytes: 1024 }

/** A disk on which, while it is told so, every operation of this kind fails; each takes a turn of the event loop. */
function createFailingDisk(kind: DiskOperation['kind'], code: 'ENOSPC' | 'EIO') {
  let isFailing = false
  const disk = new SimulatedDisk({
    random: new Random('failure'),
    defer: setImmediate,
    fault: (operation) =>
      isFailing && operation.kind === kind ? { kind: 'error', code } : undefined,
  })
  const setFailing = (value: boolean): void => {
    isFailing = value
  }
  return { disk, setFailing }
}

async function reasonOf(settled: Promise<void>): Promise<LockError> {
  const reason: unknown = await settled.then(
    () => 'resolved',
    (error: unknown) => error,
  )
  if (!isLockError(reason, 'LOCK_STORAGE_FAILED')) throw new TypeError(`not a failure: ${reason}`)
  return reason
}

describe.each([
  ['write', 'EIO'],
  ['sync', 'EIO'],
] as const)('when a %s fails with %s', (kind, code) => {
  it('nothing more is acknowledged, and each record says whether it may be found again', async () => {
    const { disk, setFailing } = createFailingDisk(kind, code)
    const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
    await journal.append(Buffer.from('kept'))
    expect(journal.failure).toBeNull()
    setFailing(true)
    const inFlight = journal.append(Buffer.from('in flight'))
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    const gathered = journal.append(Buffer.from('gathered'))
    expect(await reasonOf(inFlight)).toMatchObject({ applied: 'maybe', cause: { code } })
    expect(await reasonOf(gathered)).toMatchObject({ applied: 'no', cause: { code } })

    setFailing(false)
    const syncs = disk.syncs
    const later = await reasonOf(journal.append(Buffer.from('later')))
    expect(later).toMatchObject({ applied: 'no', cause: { code } })
    expect(later.message).toContain(code)
    expect(journal.failure).toBe(later)
    expect(disk.syncs).toBe(syncs)
    await journal.close()

    const owner = new ListOwner()
    await Journal.open(disk.mount(), owner, OPTIONS)
    expect(owner.list.slice(0, 1)).toEqual(['kept'])
    expect(['', 'in flight']).toContain(owner.list.slice(1).join())
  })
})

describe.each(['write', 'sync'] as const)('when there is no room for a %s', (kind) => {
  async function openFull() {
    const { disk, setFailing } = createFailingDisk(kind, 'ENOSPC')
    const owner = new ListOwner()
    const journal = await Journal.open(disk.mount(), owner, OPTIONS)
    await journal.append(Buffer.from('kept'))
    setFailing(true)
    const inFlight = journal.append(Buffer.from('in flight'))
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    const gathered = journal.append(Buffer.from('gathered'))
    const refusals = [await reasonOf(inFlight), await reasonOf(gathered)]
    return { disk, setFailing, journal, refusals }
  }

  async function expectRecords(disk: SimulatedDisk, expected: readonly string[]): Promise<void> {
    const owner = new ListOwner()
    await Journal.open(disk.mount(), owner, OPTIONS)
    expect(owner.list).toEqual(expected)
  }

  it('every record that was appended may be applied, and none is taken until there is room', async () => {
    const { journal, refusals, setFailing } = await openFull()
    expect(refusals).toMatchObject([{ applied: 'maybe' }, { applied: 'maybe' }])
    const later = await reasonOf(journal.append(Buffer.from('later')))
    expect(later).toMatchObject({ applied: 'no', cause: { code: 'ENOSPC' } })
    expect(later.message).toMatch(/disk is full.*no restart is needed.*ENOSPC/)
    expect(journal.full).toBe(later)
    expect(journal.failure).toBeNull()
    expect(await journal.retry()).toBe(false)
    setFailing(false)
    expect(await journal.retry()).toBe(true)
    expect(journal.full).toBeNull()
    await journal.append(Buffer.from('after'))
  })

  it('a retry makes durable what was appended, before anything that comes later', async () => {
    const { disk, journal, setFailing } = await openFull()
    await journal.retry()
    setFailing(false)
    expect(await journal.retry()).toBe(true)
    await journal.append(Buffer.from('after'))
    disk.crash()
    await expectRecords(disk, ['kept', 'in flight', 'gathered', 'after'])
  })

  it('a journal that is closed meanwhile writes what it can, and is whole either way', async () => {
    const full = await openFull()
    await full.journal.close()
    full.setFailing(false)
    full.disk.crash()
    const owner = new ListOwner()
    await Journal.open(full.disk.mount(), owner, OPTIONS)
    expect(['kept', 'kept,in flight']).toContain(String(owner.list))

    const freed = await openFull()
    freed.setFailing(false)
    await freed.journal.close()
    await expectRecords(freed.disk, ['kept', 'in flight', 'gathered'])
  })

  it('a compaction that had begun goes on when there is room', async () => {
    const disk = new SimulatedDisk({
      random: new Random('full'),
      fault: (operation) =>
        isFull && operation.kind === kind && operation.file === fullFile
          ? { kind: 'error', code: 'ENOSPC' }
          : undefined,
    })
    let isFull = false
    let fullFile = ''
    const owner = new ListOwner()
    const options = { preallocateBytes: 64, compactMinBytes: 300, defer: queueMicrotask }
    const journal = await Journal.open(disk.mount(), owner, options)
    const written: string[] = []
    for (let i = 0; i < 60; i++) {
      isFull = i % 7 === 3
      fullFile = disk.names().findLast((name) => /^log-\d+$/.test(name)) ?? ''
      written.push(`record ${i}`)
      owner.push(`record ${i}`)
      await journal.append(Buffer.from(`record ${i}`)).catch(() => {})
      isFull = false
      if (journal.full !== null) expect(await journal.retry()).toBe(true)
    }
    await journal.close()
    expect(disk.names().some((name) => name.startsWith('snapshot-'))).toBe(true)
    disk.crash()
    const again = new ListOwner()
    await Journal.open(disk.mount(), again, options)
    expect(again.list).toEqual(written)
  })
})

describe('a failed journal', () => {
  it('rejects without ending the process when nobody waits for the records', async () => {
    const { disk, setFailing } = createFailingDisk('sync', 'EIO')
    const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    setFailing(true)
    void journal.append(Buffer.from('a'))
    await journal.close()
    void journal.append(Buffer.from('b'))
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    process.off('unhandledRejection', note)
    expect(unhandled).toEqual([])
  })

  it('is not believed when it is opened anew: what it shows then survives the power', async () => {
    // After a failed sync the system shows bytes that it will never bring to the platter.
    for (let seed = 0; seed < 50; seed++) {
      let isFailing = false
      const disk = new SimulatedDisk({
        random: new Random(`unsynced ${seed}`),
        fault: ({ kind }) =>
          isFailing && kind === 'sync' ? { kind: 'error', code: 'EIO' } : undefined,
      })
      const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
      isFailing = true
      await reasonOf(journal.append(Buffer.from('doubtful')))
      isFailing = false
      disk.kill()
      const shown = new ListOwner()
      const next = await Journal.open(disk.mount(), shown, OPTIONS)
      await next.append(Buffer.from('sure'))
      disk.crash()
      const owner = new ListOwner()
      await Journal.open(disk.mount(), owner, OPTIONS)
      expect(owner.list).toEqual([...shown.list, 'sure'])
    }
  })

  it('cannot be opened while the disk fails, and can be afterwards', async () => {
    const { disk, setFailing } = createFailingDisk('sync-directory', 'EIO')
    setFailing(true)
    const opening = Journal.open(disk.mount(), new ListOwner(), OPTIONS)
    await expect(opening).rejects.toMatchObject({ code: 'EIO' })
    setFailing(false)
    const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
    await journal.append(Buffer.from('record'))
  })
})
