import type { PackWriter } from '../../protocol/session/pack-writer.ts'
import { writeFailure } from '../../protocol/session/server-frames.ts'
import { toFailure } from './failure.ts'

/** What cannot be written is our failure, and must not take the rest of the frame with it. */
export function writeAnswer(
  writer: PackWriter,
  id: number,
  write: (writer: PackWriter) => void,
): void {
  const { length } = writer
  try {
    write(writer)
  } catch (error) {
    writer.rewind(length)
    writeFailure(writer, id, toFailure(error))
  }
}
