import { mkdtemp, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EXIT_CODES } from '../../src/cli/exit-codes.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { openFileEngine } from '../../src/engines/embedded/embedded-engine.ts'
import { CapturedIo } from './captured-io.ts'

const TOKENS = 201
const LOG = 'log-0000000001'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-repair-'))
  await giveTokens(TOKENS)
})
afterEach(async () => {
  await rm(directory, { recursive: true, force: true })
})

/** Holds and releases one key so often, and stops properly. Returns the tokens. */
async function giveTokens(count: number, key = 'orders/42'): Promise<number[]> {
  const engine = await openFileEngine(directory)
  const tokens: number[] = []
  for (let i = 0; i < count; i++) {
    const request = { key, owner: 'billing', requestId: `${i}` }
    const granted = await engine.apply({ kind: 'acquire', ...request, ttlMs: 60_000 })
    tokens.push('token' in granted ? granted.token : 0)
    await engine.apply({ kind: 'release', ...request, requestId: `release ${i}` })
  }
  await engine.close()
  return tokens
}

async function run(...args: string[]): Promise<{ code: number; out: string; error: string }> {
  const io = new CapturedIo()
  const code = await runCli(args, io)
  return { code, out: io.stdout.text, error: io.stderr.text }
}

/** How far the log is filled, ahead of which lie zeros. */
async function lengthOfLog(): Promise<number> {
  const bytes = await readFile(join(directory, LOG))
  return bytes.findLastIndex((byte) => byte !== 0) + 1
}

const DAMAGES: readonly [string, () => Promise<void>][] = [
  [
    'the second half of the log is cut off',
    async () => truncate(join(directory, LOG), (await lengthOfLog()) / 2),
  ],
  [
    'the second half of the log is zeroed',
    async () => {
      const bytes = await readFile(join(directory, LOG))
      await writeFile(join(directory, LOG), bytes.fill(0, (await lengthOfLog()) / 2))
    },
  ],
  ['the log is deleted', () => rm(join(directory, LOG))],
  ['the mark is deleted', () => rm(join(directory, 'mark'))],
]

describe.each(DAMAGES)('when %s after a proper stop', (_, damage) => {
  it('the server does not start, and says how to go on', async () => {
    await damage()
    const { code, error } = await run('serve', '--data', directory, '--port', '0')
    expect(code).toBe(EXIT_CODES.internal.code)
    expect(error).toContain('Nothing was changed')
    expect(error).toContain(`"holdfast repair ${directory}"`)
  })

  it('a repair says what it dropped, and every new token is above all old ones', async () => {
    await damage()
    const { code, out } = await run('repair', directory)
    expect(code).toBe(0)
    expect(out).toMatch(
      /repaired\n {2}damage .*\n {2}dropped .*\n {2}kept .*\n {2}tokens .* above \d+/,
    )
    // What was held where the log ends now is held again, with its old token.
    const [token = 0] = await giveTokens(1, 'orders/43')
    expect(token).toBeGreaterThan(TOKENS)
  })
})

describe('a repair', () => {
  it('keeps what can be read, and the files of before under other names', async () => {
    await truncate(join(directory, LOG), (await lengthOfLog()) / 2)
    const { out } = await run('repair', directory, '--json')
    expect(JSON.parse(out)).toMatchObject({
      repaired: true,
      damage: { file: LOG, found: expect.stringContaining('was acknowledged') },
      tokens_above: TOKENS,
      renamed: [`${LOG}.dropped`],
    })
    expect(await readdir(directory)).toContain(`${LOG}.dropped`)
  })

  it('changes nothing where nothing is damaged', async () => {
    const { code, out } = await run('repair', directory)
    expect({ code, out }).toEqual({
      code: 0,
      out: `${directory}: intact, with 0 holds and 0 sessions; nothing was changed\n`,
    })
    expect(await giveTokens(1)).toEqual([TOKENS + 1])
  })

  it('is refused where there is no journal, or no directory', async () => {
    await rm(directory, { recursive: true })
    expect(await run('repair', directory)).toMatchObject({ code: EXIT_CODES.unavailable.code })
    expect(await readdir(join(directory, '..'))).not.toContain(directory)
    directory = await mkdtemp(join(tmpdir(), 'holdfast-repair-'))
    expect(await run('repair', directory)).toMatchObject({
      code: EXIT_CODES.usage.code,
      error: expect.stringContaining('has no journal to repair'),
    })
    expect(await readdir(directory)).toEqual([])
  })

  it('is refused while a server has the directory', async () => {
    const engine = await openFileEngine(directory)
    const { code, error } = await run('repair', directory)
    expect({ code, error }).toEqual({
      code: EXIT_CODES.unavailable.code,
      error: expect.stringContaining('is in use'),
    })
    await engine.close()
  })
})
