import type { CliIo, CliStream } from '../cli-io.ts'

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34 } as const

export type Colour = keyof typeof CODES
export type Paint = (text: string, colour: Colour) => string

const plain: Paint = (text) => text
const coloured: Paint = (text, colour) => `\u001B[${CODES[colour]}m${text}\u001B[0m`

/** Colours on a terminal, unless NO_COLOR says no; FORCE_COLOR says yes anywhere, and 0 there says no. */
export function choosePaint({ env }: CliIo, stream: CliStream): Paint {
  const force = env['FORCE_COLOR']
  if (force !== undefined && force !== '') return force === '0' ? plain : coloured
  if ((env['NO_COLOR'] ?? '') !== '') return plain
  return stream.isTTY && env['TERM'] !== 'dumb' ? coloured : plain
}
