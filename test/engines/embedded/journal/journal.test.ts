import { describe, expect, it } from 'vitest'

import { Journal } from '../../../../src/engines/embedded/journal/journal.ts'
import { MAX_RECORD_BYTES } from '../../../../src/engines/embedded/journal/journal-limits.ts'
import { Random } from '../../../../src/testing/random.ts'
import { type DiskOperation, SimulatedDisk } from '../../../../src/testing/simulated-disk.ts'
import { ListOwner } from './list-owner.ts'

const OPTIONS = { preallocateBytes: 1024 }
const bytes = (text: string): Buffer => Buffer.from(text)

function createDisk(onOperation?: (operation: DiskOperation) => void): SimulatedDisk {
  const fault = (operation: DiskOperation): undefined => {
    onOperation?.(operation)
  }
  return new SimulatedDisk({ random: new Random('journal'), fault })
}

/** Each of its operations takes a turn of the event loop, so a batch is in flight for several. */
function createSlowDisk(): SimulatedDisk {
  return new SimulatedDisk({ random: new Random('slow'), defer: setImmediate })
}

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve)
  })

describe('a journal', () => {
  it('gives back every record in order, however it was left', async () => {
    const disk = createDisk()
    const written: string[] = []
    for (const ending of ['close', 'kill', 'crash', 'kill'] as const) {
      const owner = new ListOwner()
      const journal = await Journal.open(disk.mount(), owner, OPTIONS)
      expect(owner.list).toEqual(written)
      expect(journal.recovery).toEqual({ chunks: 0, records: written.length, cut: null })
      for (let i = 0; i < 5; i++) {
        written.push(`${ending} ${i}`)
        await journal.append(bytes(`${ending} ${i}`))
      }
      if (ending === 'close') await journal.close()
      else disk[ending]()
    }
  })

  it('keeps records of any length, empty ones and those beyond a read window included', async () => {
    const disk = createDisk()
    const lengths = [0, 1, 7, 8, 9, 4096, 3_000_000, 0, 5]
    const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
    const texts = lengths.map((length, i) => String(i).repeat(length))
    await Promise.all(texts.map((text) => journal.append(bytes(text))))
    await journal.append(bytes(texts[6] as string))
    await journal.close()
    const owner = new ListOwner()
    await Journal.open(disk.mount(), owner, OPTIONS)
    expect(owner.list).toEqual([...texts, texts[6]])
  })

  it('copies a record, so that its bytes may be used again at once', async () => {
    const disk = createDisk()
    const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
    const record = bytes('first')
    const settled = journal.append(record)
    record.write('other')
    await settled
    const owner = new ListOwner()
    await Journal.open(disk.mount(), owner, OPTIONS)
    expect(owner.list).toEqual(['first'])
  })

  it('refuses a record that recovery would take for damage, and goes on', async () => {
    const disk = createDisk()
    const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
    expect(() => journal.append(new Uint8Array(MAX_RECORD_BYTES + 1))).toThrow(RangeError)
    await journal.append(bytes('small'))
    await journal.close()
    const owner = new ListOwner()
    await Journal.open(disk.mount(), owner, OPTIONS)
    expect(owner.list).toEqual(['small'])
  })

  it('writes what was appended when it is closed, and then takes no more', async () => {
    const disk = createDisk()
    const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
    const last = journal.append(bytes('last'))
    const closed = journal.close()
    await expect(journal.append(bytes('late'))).rejects.toMatchObject({
      code: 'LOCK_ENGINE_CLOSED',
    })
    await Promise.all([last, closed, journal.close()])
    const owner = new ListOwner()
    await Journal.open(disk.mount(), owner, OPTIONS)
    expect(owner.list).toEqual(['last'])
  })

  it('does not grow by being opened and closed', async () => {
    const disk = createDisk()
    const reopen = async (): Promise<Buffer> => {
      await (await Journal.open(disk.mount(), new ListOwner(), OPTIONS)).close()
      return disk.contents('log-0000000001')
    }
    const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
    await journal.append(bytes('record'))
    await journal.close()
    const before = await reopen()
    expect(await reopen()).toEqual(before)
  })
})

describe('group commit', () => {
  it('syncs a thousand records of one turn once', async () => {
    const disk = createDisk()
    const journal = await Journal.open(disk.mount(), new ListOwner(), { preallocateBytes: 2 ** 17 })
    const before = disk.syncs
    const settled = Array.from({ length: 1000 }, (_, i) => journal.append(bytes(`record ${i}`)))
    expect(new Set(settled).size).toBe(1)
    await Promise.all(settled)
    expect(disk.syncs - before).toBe(1)
  })

  it('lets a thousand appenders that append again and again share each sync', async () => {
    const disk = createDisk()
    const journal = await Journal.open(disk.mount(), new ListOwner(), { preallocateBytes: 2 ** 20 })
    const before = disk.syncs
    const appender = async (): Promise<void> => {
      for (let round = 0; round < 10; round++) await journal.append(bytes(`record ${round}`))
    }
    await Promise.all(Array.from({ length: 1000 }, appender))
    expect(disk.syncs - before).toBe(10)
  })

  it('gathers what arrives during a sync for the next one', async () => {
    const journal = await Journal.open(createSlowDisk().mount(), new ListOwner(), OPTIONS)
    const first = journal.append(bytes('first'))
    await nextTurn()
    const second = journal.append(bytes('second'))
    expect(second).not.toBe(first)
    expect(journal.append(bytes('third'))).toBe(second)
    await Promise.all([first, second])
  })

  it.each([1, 64])(
    'lets those who were just answered join those who came in the meantime, %i at a time',
    async (count) => {
      const disk = createSlowDisk()
      const preallocateBytes = 2 ** 16
      const journal = await Journal.open(disk.mount(), new ListOwner(), { preallocateBytes })
      const before = disk.syncs
      const appender = async (): Promise<void> => {
        for (let round = 0; round < 10; round++) await journal.append(bytes(`record ${round}`))
      }
      const early = Array.from({ length: count }, appender)
      await nextTurn()
      await Promise.all([...early, ...Array.from({ length: count }, appender)])
      expect(disk.syncs - before).toBe(11)
    },
  )

  it.each([
    { records: 64, syncs: 3, when: 'at once if it has gathered much' },
    { records: 2, syncs: 2, when: 'at the end of the turn if it has not' },
  ])('writes the next batch of those who do not append again $when', async ({ records, syncs }) => {
    const deferred: (() => void)[] = []
    const journal = await Journal.open(createSlowDisk().mount(), new ListOwner(), {
      preallocateBytes: 2 ** 16,
      defer: (run) => deferred.push(run),
    })
    const appendSome = (): Promise<unknown> =>
      Promise.all(Array.from({ length: records }, () => journal.append(bytes('record'))))
    const first = appendSome()
    deferred.pop()?.()
    const second = appendSome()
    await first
    deferred.pop()?.()
    const third = appendSome()
    await second
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    expect(journal.stats.syncs).toBe(syncs)
    for (const run of deferred) run()
    await third
  })

  it('does not touch the bytes of a batch that is being written', async () => {
    const disk = createSlowDisk()
    const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
    const written: string[] = []
    let settled = Promise.resolve()
    for (let turn = 0; turn < 50; turn++) {
      written.push(`record ${turn}`)
      settled = journal.append(bytes(`record ${turn}`))
      await nextTurn()
    }
    await settled
    const owner = new ListOwner()
    await Journal.open(disk.mount(), owner, OPTIONS)
    expect(owner.list).toEqual(written)
  })

  it('acknowledges a record after its bytes were written and then synced', async () => {
    const events: string[] = []
    const disk = createDisk(({ kind }) => void events.push(kind))
    const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
    for (const text of ['one', 'two']) {
      events.length = 0
      await journal.append(bytes(text)).then(() => events.push('acknowledged'))
      expect(events).toEqual(['write', 'sync', 'acknowledged'])
    }
  })

  it('splits a flood of records into batches of bounded size', async () => {
    const disk = createDisk()
    const journal = await Journal.open(disk.mount(), new ListOwner(), {
      ...OPTIONS,
      compactMinBytes: 2 ** 30,
    })
    const record = new Uint8Array(1024 * 1024).fill(97)
    const settled = Array.from({ length: 9 }, () => journal.append(record))
    expect(new Set(settled).size).toBe(3)
    await Promise.all(settled)
    const owner = new ListOwner()
    disk.crash()
    await Journal.open(disk.mount(), owner, OPTIONS)
    expect(owner.list).toHaveLength(9)
  })
})
