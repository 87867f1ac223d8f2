import { describe, expect, it } from 'vitest'

import { Journal } from '../../../../src/engines/embedded/journal/journal.ts'
import { RunningChecksum } from '../../../../src/engines/embedded/journal/running-checksum.ts'
import { Random } from '../../../../src/testing/random.ts'
import { SimulatedDisk } from '../../../../src/testing/simulated-disk.ts'
import { ListOwner } from './list-owner.ts'

const OPTIONS = { preallocateBytes: 0 }
const VERSION_AT = 8
const CHECKED_BYTES = 36

/** A directory as the first version of the format left it: without a mark. */
async function createFirstVersion(records: readonly string[]): Promise<SimulatedDisk> {
  const disk = new SimulatedDisk({ random: new Random('first version') })
  const journal = await Journal.open(disk.mount(), new ListOwner(), OPTIONS)
  for (const record of records) await journal.append(Buffer.from(record))
  await journal.close()
  const log = disk.contents('log-0000000001')
  log.writeUInt32LE(1, VERSION_AT)
  log.writeUInt32LE(new RunningChecksum(0).update(log, 0, CHECKED_BYTES), CHECKED_BYTES)
  const old = new SimulatedDisk({ random: new Random('upgraded') })
  old.put('log-0000000001', log)
  return old
}

async function open(disk: SimulatedDisk): Promise<{ journal: Journal; list: string[] }> {
  const owner = new ListOwner()
  return { journal: await Journal.open(disk.mount(), owner, OPTIONS), list: owner.list }
}

describe('a directory of the first version', () => {
  it('opens with all that it has, gets a mark, and goes on in a log of the new version', async () => {
    const disk = await createFirstVersion(['a', 'b'])
    const { journal, list } = await open(disk)
    expect(list).toEqual(['a', 'b'])
    await journal.append(Buffer.from('c'))
    disk.crash()
    expect(disk.names()).toEqual(['log-0000000001', 'log-0000000002', 'mark'])
    expect((await open(disk)).list).toEqual(['a', 'b', 'c'])
  })

  it('is not taken for one once it was opened: a mark that is lost then is noticed', async () => {
    const disk = await createFirstVersion(['a'])
    await (await open(disk)).journal.close()
    await disk.mount().remove('mark')
    await expect(open(disk)).rejects.toMatchObject({
      code: 'LOCK_STORAGE_DAMAGED',
      details: { file: 'mark' },
    })
  })

  it('survives a loss of power at any moment of its upgrade', async () => {
    for (let at = 1; at < 60; at++) {
      const first = await createFirstVersion(['a', 'b'])
      let isOver = false
      const disk: SimulatedDisk = new SimulatedDisk({
        random: new Random(`upgrade ${at}`),
        fault: ({ index }) => (index === at && !isOver ? { kind: 'crash' } : undefined),
      })
      disk.put('log-0000000001', first.contents('log-0000000001'))
      const opened = open(disk)
      const crashed = new Promise<void>((resolve, reject) => {
        const look = (): void => void (disk.crashes > 0 ? resolve() : setImmediate(look))
        opened.then(() => resolve(), reject)
        look()
      })
      await crashed
      isOver = true
      expect((await open(disk)).list).toEqual(['a', 'b'])
    }
  })
})
