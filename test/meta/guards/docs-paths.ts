import { posix } from 'node:path'
import type { SourceFile } from './source-file.ts'

/** A path of this repository as the docs write it: between backticks, alone or in a command. */
const PATH = /(?<![\w./@-])(?:src|test|scripts|examples|bench|docs)\/[\w./-]*\w/g
const CODE = /`[^`\n]+`/g
const LINK = /\]\((?!https?:|mailto:|#)([^)#\s]+)[^)]*\)/g

/** What the docs point at and is not there. The beginning of a path will do, as it does in a command. */
export function findDeadPaths(pages: readonly SourceFile[], paths: readonly string[]): string[] {
  return pages.flatMap((page) =>
    listPaths(page)
      .filter((path) => !paths.some((known) => known.startsWith(path)))
      .map((path) => `${page.path}: ${path}`),
  )
}

function listPaths({ path, text }: SourceFile): string[] {
  const code = [...text.matchAll(CODE)].flatMap(([span]) => span.match(PATH) ?? [])
  const links = [...text.matchAll(LINK)].map(([, target = '']) =>
    posix.join(posix.dirname(path), target).replace(/\/$/, ''),
  )
  return [...code, ...links]
}
