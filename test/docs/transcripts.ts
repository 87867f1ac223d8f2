/** A command that a page shows, and the answer that it shows below it. */
export interface Transcript {
  /** Where the command begins, counted from 1. */
  readonly line: number
  /** Where the answer ends. */
  readonly lastLine: number
  /** What is typed into a shell; it may have several lines. */
  readonly command: string
  readonly answer: string
}

/**
 * The commands of a page whose answers it shows, in order: blocks of `sh` that are followed by a block of
 * their answer, and lines after a prompt (`$ `) with their answers below them.
 */
export function listTranscripts(page: string): Transcript[] {
  return [...listAnsweredBlocks(page), ...listPrompts(page)].toSorted((a, b) => a.line - b.line)
}

function listAnsweredBlocks(page: string): Transcript[] {
  const form = /^```sh\n((?:(?!```).*\n)+)```\n\n```(?:json|text)\n((?:(?!```).*\n)+)(?=```$)/gm
  return listMatches(page, form).map((one) => ({ ...one, line: one.line + 1 }))
}

function listPrompts(page: string): Transcript[] {
  return listMatches(page, /^\$ (.+)\n((?:(?!```|\$ ).+\n)+)/gm)
}

function listMatches(page: string, form: RegExp): Transcript[] {
  return [...page.matchAll(form)].map(({ 0: whole, 1: command = '', 2: answer = '', index }) => {
    const line = page.slice(0, index).split('\n').length
    const lastLine = line + whole.trimEnd().split('\n').length - 1
    return { line, lastLine, command: command.trim(), answer }
  })
}

/** Where a page shows a call of `curl` and no answer to it, counted from 1. */
export function listUnanswered(page: string): number[] {
  const transcripts = listTranscripts(page)
  const lines = page.split('\n').flatMap((text, index) => (isCurl(text) ? [index + 1] : []))
  return lines.filter(
    (number) => !transcripts.some(({ line, lastLine }) => line <= number && number <= lastLine),
  )
}

/** Whether there is a call of `curl` in a text. */
export function isCurl(text: string): boolean {
  return /\bcurl -/.test(text)
}

/** The same for any two runs: without what differs from one to the next. */
export function normalise(text: string): string {
  return text
    .replaceAll(/"(token|lease_ms|held_ms|waited_ms|ago_ms)":\d+/g, '"$1":N')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
    .replaceAll(/^id: \S+$/gm, 'id: ID')
    .replaceAll(/^(data: .*"id":)"[^"]*"/gm, '$1"ID"')
    .replaceAll(/^: .*\n\n?/gm, '')
    .trim()
}
