import { parse } from 'smol-toml'

/** A file of settings or tokens that cannot be read as what it is. */
export class DocumentError extends Error {
  constructor(file: string, why: string) {
    super(`${file}: ${why}`)
    this.name = 'DocumentError'
  }
}

/**
 * The contents of a file for people: JSON where it begins with a brace, TOML otherwise. `file` is what
 * complaints call it.
 */
export function parseDocument(file: string, text: string): Readonly<Record<string, unknown>> {
  return text.trimStart().startsWith('{') ? parseJson(file, text) : parseToml(file, text)
}

function parseJson(file: string, text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    // The parser's own message quotes the text, which may be a secret.
    throw new DocumentError(file, 'it begins like JSON and is not')
  }
}

function parseToml(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text)
  } catch (error) {
    const { line } = error as { readonly line?: number }
    throw new DocumentError(file, `it is not TOML${line === undefined ? '' : ` (line ${line})`}`)
  }
}
