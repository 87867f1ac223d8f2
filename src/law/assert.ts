/** A state that cannot be, was. Not a failure to handle: a defect to find. */
class LawDefect extends Error {
  override readonly name = 'LawDefect'
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new LawDefect(message)
}

/** For the default branch of a switch that covers every case. */
export function unreachable(value: never): never {
  throw new LawDefect(`no case for ${String(value)}`)
}
