const KEY_BYTES = 30
const OWNER_BYTES = 16

/** The keys of the bench: 30 bytes, all different. */
export function createKey(index: number): string {
  return createName('orders/', index, KEY_BYTES)
}

export function createKeys(count: number): string[] {
  return Array.from({ length: count }, (_, index) => createKey(index))
}

export function createOwner(index: number): string {
  return createName('node-', index, OWNER_BYTES)
}

/** A string in one piece, as a parser makes it: one put together from parts would take more memory. */
function createName(prefix: string, index: number, bytes: number): string {
  const digits = String(index).padStart(bytes - prefix.length, '0')
  return Buffer.from(prefix + digits, 'latin1').toString('latin1')
}
