import type { Random } from '../../../src/testing/random.ts'

/** What programs send that do not mean well, or do not know what they do. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1,
  1.5,
  100,
  60_000,
  2 ** 31,
  2 ** 53,
  2 ** 53 + 2,
  1e308,
  -1e308,
  '',
  ' ',
  'a',
  'k',
  'read',
  'write',
  'pull',
  'operation',
  'forever',
  '0',
  'NaN',
  'a'.repeat(256),
  'a'.repeat(513),
  'é'.repeat(300),
  '\u0000',
  'a\nb',
  'a\r\n\r\ndata: x',
  '\u001b[2J',
  '\ud800',
  '\udfff\ud800',
  '\ufeff',
  '\u202eabc',
  'ｆｕｌｌ',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  '../../etc/passwd',
  '%00',
  '%',
  '{key}',
  '<script>',
  "'; DROP TABLE locks; --",
  [],
  [[]],
  {},
  { length: 3 },
  { toString: 1 },
  { key: 'k' },
]

export function nastyValue(random: Random): unknown {
  return random.chance(0.05) ? nested(random.int(1, 100)) : random.pick(VALUES)
}

export function nastyText(random: Random): string {
  const value = nastyValue(random)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

/** A text with a few of its characters lost, doubled or replaced. */
export function mutateText(random: Random, text: string): string {
  let mutated = text
  for (let times = random.int(1, 4); times > 0; times -= 1) {
    const at = random.int(0, mutated.length)
    const end = Math.min(mutated.length, at + random.int(0, 8))
    const piece = random.pick([
      '',
      mutated.slice(at, end).repeat(2),
      String.fromCharCode(random.int(0, 255)),
      random.pick([
        '{',
        '}',
        '[',
        ']',
        '"',
        '\\',
        ',',
        ':',
        '\\u',
        '\\ud800',
        '1e999',
        '-',
        'null',
      ]),
    ])
    mutated = mutated.slice(0, at) + piece + mutated.slice(end)
  }
  return mutated
}
