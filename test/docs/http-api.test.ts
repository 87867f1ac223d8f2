import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LockEngine } from '../../src/engine/engine.ts'
import { openMemoryEngine } from '../../src/engines/embedded/embedded-engine.ts'
import { LockServer } from '../../src/server/lock-server.ts'
import { listTranscripts, normalise } from './transcripts.ts'

const ADDRESS = 'http://127.0.0.1:8086'
const page = readFileSync(new URL('../../docs/http-api.md', import.meta.url), 'utf8')
const transcripts = listTranscripts(page)

let engine: LockEngine
let server: LockServer

beforeAll(async () => {
  engine = openMemoryEngine()
  server = await LockServer.open({ engine })
})

afterAll(async () => {
  await server.close()
  await engine.close()
})

function run(command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', command.replaceAll(ADDRESS, server.url)], (error, stdout) => {
      // A stream goes on until curl has had enough of it, which it calls a failure (28).
      if (error === null || error.code === 28) resolve(stdout)
      else reject(error)
    })
  })
}

describe('the page about the HTTP API', () => {
  it('shows a curl line for every answer', () => {
    expect(transcripts.length).toBeGreaterThan(20)
    expect(page.match(/^curl /gm)).toHaveLength(transcripts.length)
  })

  it.each(transcripts)('shows what is answered in line $line: $command', async (transcript) => {
    expect(normalise(await run(transcript.command))).toBe(normalise(transcript.answer))
  })
})

describe('the comparison with the page', () => {
  it('overlooks tokens, times and ids, and nothing else', () => {
    const shown = 'id: a-1\ndata: {"token":1,"lease_ms":2,"at":"2026-01-02T03:04:05.678Z"} 200'
    const other = 'id: b-22\ndata: {"token":9,"lease_ms":8,"at":"2030-01-02T03:04:05.678Z"} 200\n'
    expect(normalise(other)).toBe(normalise(shown))
    for (const wrong of ['id: a-1\ndata: {}', '{"token":"1"}', '{"acquired":true}']) {
      expect(normalise(wrong)).not.toBe(normalise(shown))
    }
    expect(normalise('{"position":1}')).not.toBe(normalise('{"position":2}'))
  })
})
