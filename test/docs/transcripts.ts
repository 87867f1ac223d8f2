/** A command that a page shows, and the answer that it shows below it. */
export interface Transcript {
  /** Where the command is, counted from 1. */
  readonly line: number
  readonly command: string
  readonly answer: string
}

/** Every block of one `curl` line that is followed by a block with its answer, in order. */
export function listTranscripts(page: string): Transcript[] {
  const form = /^```sh\n(curl [^\n]*)\n```\n\n```(?:json|text)\n(.*?)\n```$/gms
  return [...page.matchAll(form)].map(({ 1: command = '', 2: answer = '', index }) => ({
    line: page.slice(0, index).split('\n').length + 1,
    command,
    answer,
  }))
}

/** The same for any two runs: without what differs from one to the next. */
export function normalise(text: string): string {
  return text
    .trim()
    .replaceAll(/"(token|lease_ms|held_ms|waited_ms)":\d+/g, '"$1":N')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
    .replaceAll(/^id: \S+$/gm, 'id: ID')
}
