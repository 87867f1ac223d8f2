/** What can stand in a statement as a value. */
export type Value = string | number | null

/** What a statement found. */
export type Rows = readonly Readonly<Record<string, unknown>>[]

/**
 * A statement with its values apart: one more piece of text than there are values between them. The hot
 * ones are made of these and not by a query builder, whose trees cost more than the database's own work.
 */
export interface Statement {
  readonly texts: readonly string[]
  readonly values: readonly Value[]
}

/** A statement from a template. A statement inside it is a part of it. */
export function statement(
  strings: TemplateStringsArray,
  ...inserts: readonly (Value | Statement)[]
): Statement {
  const texts: string[] = [strings[0] ?? '']
  const values: Value[] = []
  for (const [index, insert] of inserts.entries()) {
    const after = strings[index + 1] ?? ''
    if (typeof insert === 'object' && insert !== null) append({ texts, values }, insert, after)
    else {
      values.push(insert)
      texts.push(after)
    }
  }
  return { texts, values }
}

/** Words of the language, which must not come from anyone else. */
export function words(text: string): Statement {
  return { texts: [text], values: [] }
}

/** Values, or statements, with commas or something else between them. */
export function joined(parts: readonly (Value | Statement)[], between = ', '): Statement {
  const whole = { texts: [''], values: [] }
  for (const [index, part] of parts.entries()) {
    const one =
      typeof part === 'object' && part !== null ? part : { texts: ['', ''], values: [part] }
    append(whole, one, index < parts.length - 1 ? between : '')
  }
  return whole
}

function append(
  { texts, values }: { readonly texts: string[]; readonly values: Value[] },
  part: Statement,
  after: string,
): void {
  texts[texts.length - 1] += part.texts[0] ?? ''
  for (let index = 0; index < part.values.length; index += 1) {
    values.push(part.values[index] as Value)
    texts.push(part.texts[index + 1] as string)
  }
  texts[texts.length - 1] += after
}

/** With the values written out. */
export function toText({ texts, values }: Statement, toLiteral: (value: Value) => string): string {
  let text = texts[0] as string
  for (let index = 0; index < values.length; index += 1) {
    text += toLiteral(values[index] as Value) + (texts[index + 1] as string)
  }
  return text
}

/** Numbers and nothing look the same everywhere; strings do not. */
export function toLiteral(value: Value, quote: (text: string) => string): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return quote(value)
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not a whole number`)
  return String(value)
}
