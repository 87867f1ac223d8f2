/** An operation that ends open, with a bit of its own for sets of them. */
export interface PendingCall<Item> {
  readonly item: Item
  readonly bit: bigint
  /** The bit of the call before it that asks for the same thing; 0 if it is the first. */
  readonly twinBit: bigint
}

/** Keeps the order in which they are given, so that the likely ones can be tried first. */
export function markOpenCalls<Item extends { readonly operation: unknown; readonly call: number }>(
  items: readonly Item[],
): PendingCall<Item>[] {
  const bits = new Map(items.map((item, index) => [item, 1n << BigInt(index)]))
  const lastBits = new Map<string, bigint>()
  const twinBits = new Map<Item, bigint>()
  for (const item of [...items].sort((a, b) => a.call - b.call)) {
    const wish = JSON.stringify(item.operation)
    twinBits.set(item, lastBits.get(wish) ?? 0n)
    lastBits.set(wish, bits.get(item) ?? 0n)
  }
  return items.map((item) => {
    return { item, bit: bits.get(item) ?? 0n, twinBit: twinBits.get(item) ?? 0n }
  })
}
