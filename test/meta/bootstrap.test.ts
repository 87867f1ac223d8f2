import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { type Bootstrap, FreshClone } from './guards/fresh-clone.ts'

const ALL = ['install', 'installed', 'build']
const HOUR_S = 3_600

const CHANGES: readonly (readonly [path: string, text: string, work: readonly string[]])[] = [
  ['package-lock.json', '{ "lockfileVersion": 3 }', ALL],
  ['package.json', '{ "engines": { "node": ">=20.19" }, "a": 1 }', ['build']],
  ['tsconfig.json', '{ "compilerOptions": {} }', ['build']],
  ['tsconfig.build.json', '{ "compilerOptions": {} }', ['build']],
  ['src/index.ts', 'export const a = 1', ['build']],
  ['src/new.ts', 'export {}', ['build']],
  ['README.md', '# tiny', []],
]

async function waitUntilItWaits(bootstrap: Bootstrap): Promise<void> {
  const check = (): void => expect(bootstrap.printed()).toContain('waiting for another command')
  await vi.waitFor(check, { timeout: 60_000, interval: 10 })
}

describe('the bootstrap', () => {
  it('installs and builds on a fresh clone, and does nothing the second time', async () => {
    const clone = new FreshClone()
    expect(await clone.start().exitCode).toBe(0)
    expect(clone.readLog()).toEqual(ALL)
    expect(readdirSync(clone.path('dist')), 'nothing of our own in dist').toEqual(['index.js'])
    const again = clone.start()
    expect(await again.exitCode).toBe(0)
    expect(again.printed()).toBe('')
    expect(clone.readLog()).toEqual(ALL)
  })

  it('installs once when two start at the same time', async () => {
    const clone = new FreshClone()
    clone.write('../hold', '')
    const first = clone.start()
    await clone.waitForInstall()
    const second = clone.start()
    await waitUntilItWaits(second)
    rmSync(clone.path('../hold'))
    expect(await Promise.all([first.exitCode, second.exitCode])).toEqual([0, 0])
    expect(clone.readLog()).toEqual(ALL)
  })

  it('installs again after an install that was killed', async () => {
    const clone = new FreshClone()
    clone.write('../hold', '')
    const killed = clone.start()
    const npm = await clone.waitForInstall()
    killed.process.kill('SIGKILL')
    process.kill(npm, 'SIGKILL')
    await killed.exitCode
    rmSync(clone.path('../hold'))
    expect(await clone.start().exitCode).toBe(0)
    expect(clone.readLog()).toEqual(['install', ...ALL])
  })

  it('waits for an npm that outlives the command that started it', async () => {
    const clone = new FreshClone()
    clone.write('../hold', '')
    const killed = clone.start()
    await clone.waitForInstall()
    killed.process.kill('SIGKILL')
    await once(killed.process, 'exit')
    const next = clone.start()
    await waitUntilItWaits(next)
    rmSync(clone.path('../hold'))
    expect(await next.exitCode).toBe(0)
    expect(clone.readLog()).toEqual(['install', 'installed', ...ALL])
  })

  it('takes the turn of an owner that shows no life, whoever has its process id now', async () => {
    const clone = new FreshClone()
    mkdirSync(clone.path('.cache/bootstrap'), { recursive: true })
    clone.write('.cache/bootstrap/turn-4', JSON.stringify([process.pid]))
    const longAgo = Date.now() / 1_000 - HOUR_S
    utimesSync(clone.path('.cache/bootstrap/turn-4'), longAgo, longAgo)
    expect(await clone.start().exitCode).toBe(0)
    expect(clone.readLog()).toEqual(ALL)
  })

  it('says so when npm fails, and tries again the next time', async () => {
    const clone = new FreshClone()
    clone.write('../broken', '')
    const failed = clone.start()
    expect(await failed.exitCode).toBe(1)
    expect(failed.printed()).toMatch(/npm-cli\.js ci .* failed \(7\)/)
    rmSync(clone.path('../broken'))
    expect(await clone.start().exitCode).toBe(0)
    expect(clone.readLog()).toEqual(['install', ...ALL])
  })

  it('does again what a change of its inputs asks for, and nothing else', async () => {
    const clone = new FreshClone()
    await clone.start().exitCode
    const done = [...ALL]
    for (const [path, text, work] of CHANGES) {
      clone.write(path, text)
      await clone.start().exitCode
      done.push(...work)
      expect(clone.readLog(), `after a change of ${path}`).toEqual(done)
    }
    rmSync(clone.path('dist'), { recursive: true })
    await clone.start().exitCode
    expect(clone.readLog(), 'after dist was removed').toEqual([...done, 'build'])
  })

  it('refuses a Node that is too old before it does anything', async () => {
    const clone = new FreshClone()
    const pretend = `Object.defineProperty(process, 'versions', { value: { node: '20.18.3' } })`
    clone.write('../old-node.cjs', pretend)
    const refused = clone.start(['--require', clone.path('../old-node.cjs')])
    expect(await refused.exitCode).toBe(1)
    expect(refused.printed()).toBe(
      'bootstrap: Node 20.18.3 is too old: tiny needs 20.19 or newer.\n',
    )
    expect(clone.readLog()).toEqual([])
  })
})
