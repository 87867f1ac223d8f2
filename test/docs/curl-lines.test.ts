import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isStart, PageServers } from './page-servers.ts'
import { isCurl, listTranscripts, listUnanswered, normalise } from './transcripts.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** Every page that shows a call of `curl`. */
const PAGES = [
  ...readdirSync(ROOT),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) =>
    join('docs', name),
  ),
].filter((path) => path.endsWith('.md') && isCurl(read(path)))

it('the pages that are known to call curl are found', () => {
  expect(PAGES).toEqual(
    expect.arrayContaining(['README.md', 'docs/http-api.md', 'docs/operations.md']),
  )
})

describe.each(PAGES)('%s', (path) => {
  const page = read(path)
  const transcripts = listTranscripts(page).filter(
    ({ command }) => isCurl(command) || isStart(command),
  )
  let servers: PageServers

  beforeAll(() => {
    servers = new PageServers(page)
  })

  afterAll(() => servers.close())

  it('shows an answer for every call of curl', () => {
    expect(listUnanswered(page)).toEqual([])
  })

  it.each(transcripts)('shows what is answered in line $line: $command', async (transcript) => {
    expect(normalise(await servers.run(transcript.command))).toBe(normalise(transcript.answer))
  })
})

describe('the comparison with a page', () => {
  it('overlooks tokens, times, ids and comments, and nothing else', () => {
    const shown =
      'id: a-1\ndata: {"id":"a","token":1,"at":"2026-01-02T03:04:05.678Z"} 200\n\n: \n\n'
    const other = 'id: b-22\ndata: {"id":"b","token":9,"at":"2030-01-02T03:04:05.678Z"} 200\n'
    expect(normalise(other)).toBe(normalise(shown))
    for (const wrong of ['id: a-1\ndata: {}', '{"token":"1"}', '{"acquired":true}']) {
      expect(normalise(wrong)).not.toBe(normalise(shown))
    }
    expect(normalise('{"position":1}')).not.toBe(normalise('{"position":2}'))
  })

  it('finds blocks and prompts, and calls without an answer', () => {
    const page = [
      '```sh\ncurl -s a\n```\n\n```json\n{}\n```\n',
      '```text\n$ curl -s b\n1\n\n$ curl -s c\n```\n',
      '```sh\nrm d\ncurl -s d\n```\n',
    ].join('\n')
    expect(listTranscripts(page)).toMatchObject([
      { line: 2, command: 'curl -s a', answer: '{}\n' },
      { line: 10, command: 'curl -s b', answer: '1\n' },
    ])
    expect(listUnanswered(page)).toEqual([13, 18])
  })
})
