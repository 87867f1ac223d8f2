const OFFSET_BASIS = 0x811c9dc5
const PRIME = 0x01000193
const encoder = new TextEncoder()

/** FNV-1a, 32 bits, over the UTF-8 bytes of a name: which shard a key lives in. */
export function fnv1a(name: string): number {
  let hash = OFFSET_BASIS
  for (let index = 0; index < name.length; index += 1) {
    const unit = name.charCodeAt(index)
    if (unit > 0x7f) return fnv1aOfBytes(encoder.encode(name))
    hash = Math.imul(hash ^ unit, PRIME)
  }
  return hash >>> 0
}

function fnv1aOfBytes(bytes: Uint8Array): number {
  let hash = OFFSET_BASIS
  for (const byte of bytes) hash = Math.imul(hash ^ byte, PRIME)
  return hash >>> 0
}
