import { parseSync } from 'vite'
import type { SourceFile } from './source-file.ts'

/**
 * A block of code in a page or in a comment. The words after the three backticks decide what the
 * tests do with it: `ts` is type-checked, `ts run` is type-checked and run, `ts fragment` is left
 * alone because it is no complete program. The same goes for `js`.
 */
export interface Fence {
  readonly path: string
  /** Where the code starts in the file, counted from 1. */
  readonly line: number
  readonly language: 'ts' | 'js'
  readonly use: 'check' | 'run' | 'fragment'
  readonly code: string
}

const OPENING = /^\s*```\s*(.*?)\s*$/
const CLOSING = /^\s*```\s*$/
const USES: Readonly<Record<string, Fence['use']>> = {
  '': 'check',
  run: 'run',
  fragment: 'fragment',
}

/** The blocks of TypeScript and JavaScript in a Markdown page, or in the comments of a source. */
export function listFences(file: SourceFile): Fence[] {
  if (!file.path.endsWith('.ts')) return extract(file, 1)
  const { comments } = parseSync(file.path, file.text)
  return comments
    .filter(({ type, value }) => type === 'Block' && value.startsWith('*'))
    .flatMap(({ value, start }) => {
      const text = value.replaceAll(/^\s*\* ?/gm, '')
      return extract({ path: file.path, text }, countLines(file.text.slice(0, start)))
    })
}

function extract({ path, text }: SourceFile, firstLine: number): Fence[] {
  const lines = text.split('\n')
  const fences: Fence[] = []
  for (let index = 0; index < lines.length; index += 1) {
    const tag = OPENING.exec(lines[index] ?? '')?.[1]
    if (tag === undefined) continue
    const length = lines.slice(index + 1).findIndex((line) => CLOSING.test(line))
    const where = `${path}:${firstLine + index}`
    if (length === -1) throw new Error(`${where}: a block of code without an end`)
    const code = lines.slice(index + 1, index + 1 + length).join('\n')
    const parsed = parseTag(tag, where)
    if (parsed !== null) fences.push({ path, line: firstLine + index + 1, ...parsed, code })
    index += length + 1
  }
  return fences
}

function parseTag(tag: string, where: string): Pick<Fence, 'language' | 'use'> | null {
  const [language = '', ...words] = tag.split(/\s+/)
  if (!/^(?:[jt]sx?|(?:java|type)script)$/i.test(language)) return null
  const use = USES[words.join(' ')]
  if ((language === 'ts' || language === 'js') && use !== undefined) return { language, use }
  throw new Error(`${where}: "${tag}" is none of ts, ts run, ts fragment, and the same with js`)
}

const countLines = (text: string): number => text.split('\n').length
