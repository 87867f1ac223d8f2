import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/command-list.ts'
import { runCli } from '../../src/cli/run-cli.ts'
import { CapturedIo } from './captured-io.ts'

async function run(...args: string[]): Promise<CapturedIo & { readonly code: number }> {
  const io = new CapturedIo()
  return Object.assign(io, { code: await runCli(args, io) })
}

describe('the command line', () => {
  it.each([[], ['--help'], ['-h'], ['help']])('lists every command with %j', async (...args) => {
    const { code, stdout } = await run(...args)
    expect(code).toBe(0)
    for (const { name } of COMMANDS) expect(stdout.text).toMatch(`${name}  `)
    expect(COMMANDS.every(({ summary }) => stdout.text.includes(summary))).toBe(true)
  })

  it.each(COMMANDS.map(({ name }) => name))(
    'teaches %s with examples, in at most 110 columns',
    async (name) => {
      const { code, stdout } = await run(name, '--help')
      expect(code).toBe(0)
      expect(stdout.text).toContain(`Usage: holdfast ${name}`)
      expect(stdout.text).toContain('Examples:\n')
      const wide = stdout.text.split('\n').filter((line) => line.length > 110)
      expect(wide).toEqual([])
      expect((await run('help', name)).stdout.text).toBe(stdout.text)
    },
  )

  it('says its version', async () => {
    expect((await run('--version')).stdout.text).toMatch(/^holdfast \d+\.\d+\.\d+\n$/)
  })

  it.each([
    ['lss', 'did you mean ls?'],
    ['histroy', 'did you mean history?'],
    ['frobnicate', 'the commands are'],
  ])('suggests the nearest command for %s', async (name, hint) => {
    const { code, stderr } = await run(name)
    expect(code).toBe(64)
    expect(stderr.text).toContain(`there is no command "${name}"`)
    expect(stderr.text).toContain(hint)
  })

  it.each([
    [['ls', '--perfix', 'a'], 'there is no option --perfix; did you mean --prefix?'],
    [['ls', '--limit', '0'], '--limit cannot be "0"'],
    [['ls', '--kind', 'thing'], '--kind cannot be "thing": use lock or operation'],
    [['ls', 'a'], '"a" is one word too many'],
    [['ls', '--prefix'], "'--prefix <value>' argument missing"],
    [['show'], 'KEY is missing'],
    [['show', 'a', 'b'], '"b" is one word too many'],
    [['history', 'a', 'b'], '"b" is one word too many'],
    [['watch', 'a'], '"a" is one word too many'],
    [['release', 'a'], 'it needs --force'],
    [['run', 'a'], 'put the command behind two dashes'],
    [['run', 'a', '--'], 'there is no command behind the two dashes'],
    [['run', '--', 'true'], 'KEY is missing'],
    [['run', 'a', '--wait', 'soon', '--', 'true'], '--wait cannot be "soon"'],
    [['run', 'a', '--mode', 'rw', '--', 'true'], '--mode cannot be "rw": use read or write'],
    [['bench', '--duration', '1h'], '--duration cannot be "1h"'],
    [['bench', '--server', 'http://locks.example:8086'], 'say --yes'],
    [['ls', '--server', 'gopher:'], 'no engine for gopher:'],
    [['ls', '--token-file', '/nonexistent/token'], '--token-file cannot be read: ENOENT'],
    [['ls', '--ca', '/nonexistent/ca.pem'], '--ca cannot be read: ENOENT'],
  ])('refuses %j and says why', async (args, why) => {
    const { code, stdout, stderr } = await run(...args)
    expect(stderr.text).toContain(why)
    expect({ code, printed: stdout.text }).toEqual({ code: 64, printed: '' })
  })

  it('answers --help of a command that is behind the two dashes by running it', async () => {
    const { stdout } = await run('run', 'a', '--help', '--', 'true')
    expect(stdout.text).toContain('Usage: holdfast run')
    const { code, stderr } = await run('run', '--', 'ls', '--help')
    expect({ code, text: stderr.text }).toEqual({
      code: 64,
      text: expect.stringContaining('KEY is missing'),
    })
  })
})
