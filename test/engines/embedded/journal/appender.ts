/**
 * A process of its own that appends the numbers from where the journal in a directory ends, several
 * at a time, and says after each acknowledgement how far it has got. It goes on until it is killed.
 */
import { Journal } from '../../../../src/engines/embedded/journal/journal.ts'
import { NodeDisk } from '../../../../src/engines/embedded/journal/node-disk.ts'
import { ListOwner } from './list-owner.ts'

const [directory = ''] = process.argv.slice(2)
const owner = new ListOwner()
const journal = await Journal.open(await NodeDisk.open(directory), owner, {
  compactMinBytes: 20_000,
  preallocateBytes: 4096,
})

async function append(): Promise<void> {
  for (;;) {
    const number = owner.list.length + 1
    owner.push(String(number))
    await journal.append(Buffer.from(String(number)))
    process.send?.(number)
  }
}

await Promise.all(Array.from({ length: 8 }, append))
