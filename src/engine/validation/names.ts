/**
 * Names: what may be a key, an owner, an id, and in which order keys stand. Two names are the same if
 * their bytes are; there is no folding, trimming or normalising anywhere.
 */

/** What is wrong with a name, in words that follow it; `undefined` when nothing is. */
export function problemWithName(value: unknown, bytesMax: number): string | undefined {
  if (typeof value !== 'string') return 'must be a string'
  if (value.length === 0) return 'must not be empty'
  // One UTF-16 unit is at least one byte; this also bounds what is looked at below.
  if (value.length > bytesMax) return `is longer than ${bytesMax} bytes`
  return isPrintableAscii(value) ? undefined : problemWithUnicode(value, bytesMax)
}

/** What nearly every name is. A loop, because starting a regular expression costs more than this whole. */
function isPrintableAscii(value: string): boolean {
  for (let index = 0; index < value.length; index += 1) {
    const unit = value.charCodeAt(index)
    if (unit < 0x20 || unit > 0x7e) return false
  }
  return true
}

function problemWithUnicode(value: string, bytesMax: number): string | undefined {
  let bytes = 0
  for (let index = 0; index < value.length; index += 1) {
    const unit = value.charCodeAt(index)
    if (isControl(unit)) return 'has a control character'
    if (unit < 0x80) bytes += 1
    else if (unit < 0x800) bytes += 2
    else if (!isSurrogate(unit)) bytes += 3
    else if (isPair(unit, value.charCodeAt(index + 1))) {
      bytes += 4
      index += 1
    } else return 'is not well-formed Unicode'
  }
  return bytes > bytesMax ? `is longer than ${bytesMax} bytes` : undefined
}

/** C0, DEL and C1. */
function isControl(unit: number): boolean {
  return unit < 0x20 || (unit >= 0x7f && unit <= 0x9f)
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff
}

function isPair(high: number, low: number): boolean {
  return high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff
}

/** How many bytes a text takes in UTF-8; a lone surrogate counts as its replacement does. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit >= 0x800) bytes += 2
    else if (unit >= 0x80) bytes += 1
    if (isSurrogate(unit) && isPair(unit, text.charCodeAt(index + 1))) {
      bytes -= 1
      index += 1
    }
  }
  return bytes
}

/**
 * The order of two names by their UTF-8 bytes. It differs from JavaScript's own only where a
 * surrogate pair meets a character between U+E000 and U+FFFF.
 */
export function compareNames(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let index = 0; index < length; index += 1) {
    const a = one.charCodeAt(index)
    const b = other.charCodeAt(index)
    if (a !== b) return orderOfUnit(a) - orderOfUnit(b)
  }
  return one.length - other.length
}

/** Surrogates stand for characters above all others. */
function orderOfUnit(unit: number): number {
  return isSurrogate(unit) ? unit + 0x10000 : unit
}

const LAST_CODE_POINT = 0x10ffff

/**
 * The first name in that order which comes after every name that begins with this; `undefined` where no
 * name does.
 */
export function nameAfterPrefix(prefix: string): string | undefined {
  const characters = Array.from(prefix)
  while (characters.length > 0) {
    const next = (characters.pop()?.codePointAt(0) ?? 0) + 1
    if (next > LAST_CODE_POINT) continue
    return characters.join('') + String.fromCodePoint(isSurrogate(next) ? 0xe000 : next)
  }
  return undefined
}
