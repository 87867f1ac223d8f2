import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toLockClientSettings } from '../../src/client/lock-client-options.ts'
import { parseDuration } from '../../src/locks/options/durations.ts'
import { listFences } from '../meta/guards/fences.ts'
import { serve, type Served } from '../server/served.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PATH = 'docs/lock-client.md'
const page = readFileSync(join(ROOT, PATH), 'utf8')
const [program] = listFences({ path: PATH, text: page })

let folder: string
let served: Served

beforeAll(async () => {
  served = await serve()
  folder = mkdtempSync(join(tmpdir(), 'holdfast-client-docs-'))
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(ROOT, join(folder, 'node_modules/holdfast'))
})

afterAll(async () => {
  rmSync(folder, { recursive: true })
  await served.close()
})

async function run(node: string): Promise<string> {
  const code = program?.code ?? ''
  const changed = code
    .replace('http://127.0.0.1:8086', served.server.url)
    .replace("'node-a'", JSON.stringify(node))
  writeFileSync(join(folder, 'program.mjs'), changed)
  const running = promisify(execFile)(process.execPath, ['program.mjs'], { cwd: folder })
  return (await running).stdout
}

/** The default of an option, as the page shows it. */
function shown(option: string): string | undefined {
  return new RegExp(`^\\| \`${option}\` \\| \`?(.*?)\`? \\|`, 'm').exec(page)?.[1]
}

function shownMs(option: string): number {
  return parseDuration(shown(option), { option, minMs: 0, maxMs: Number.MAX_VALUE })
}

describe('the page about the lock client', () => {
  it('shows how one node pulls, and another one skips', async () => {
    expect(await run('node-a')).toBe('pulled it\n')
    expect(await run('node-b')).toBe('somebody else did { size: 7042 }\n')
  })

  it('shows the defaults of the options', () => {
    expect(toLockClientSettings({ server: 'http://host', nodeId: 'n' })).toMatchObject({
      maxRetries: Number(shown('maxRetries')),
      retryMs: shownMs('retryInterval'),
      requestTimeoutMs: shownMs('requestTimeout'),
      pollMs: shownMs('pollInterval'),
      waitBy: shown('waitBy'),
    })
  })
})
