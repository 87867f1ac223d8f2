import { describe, expect, it } from 'vitest'

import { Journal } from '../../../../src/engines/embedded/journal/journal.ts'
import { isLockError, type LockError } from '../../../../src/engine/errors/errors.ts'
import { Random } from '../../../../src/testing/random.ts'
import { type DiskOperation, SimulatedDisk } from '../../../../src/testing/simulated-disk.ts'
import { ListOwner } from './list-owner.ts'

const OPTIONS = { preallocateBytes: 1024 }

/** A disk on which, once `fail` is called, every operation of this kind fails. */
function createFailingDisk(kind: DiskOperation['kind'], code: 'ENOSPC' | 'EIO') {
  let isFailing = false
  const disk = new SimulatedDisk({
    random: new Random('failure'),
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
  ['write', 'ENOSPC'],
  ['write', 'EIO'],
  ['sync', 'EIO'],
  ['sync', 'ENOSPC'],
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
