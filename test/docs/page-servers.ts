import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { CliProcess } from '../cli/cli-process.ts'
import { makeCertificate } from '../server/tls/make-certificate.ts'

/** Where a server listens that was told nothing. */
const USUAL_PORT = '8086'
const TOKEN = 'token-of-the-tests'

/** Whether a command starts a server that is told nothing. */
export function isStart(command: string): boolean {
  return command === 'npm start' || command === 'holdfast serve'
}

/**
 * The servers that the commands of a page talk to, each in a process of its own, one after the other: the
 * one that `npm start` starts, and those that the page itself starts on another port. Only the ports are
 * others than on the page.
 */
export class PageServers {
  readonly #page: string
  /** Where everything happens, as in the shell of a reader. */
  readonly #directory: string
  /** The one that runs, and the port that the page names. */
  #running: { readonly port: string; readonly server: CliProcess } | undefined

  constructor(page: string) {
    this.#page = page
    this.#directory = mkdtempSync(join(tmpdir(), 'holdfast-docs-'))
    const { cert, key } = makeCertificate({ name: 'localhost' })
    this.#write('cert.pem', cert)
    this.#write('key.pem', key)
    this.#write('tokens.toml', this.#tokens())
  }

  /** What a command prints, with the ports of the page. */
  async run(command: string): Promise<string> {
    if (isStart(command)) return this.#showStart()
    let real = command
    for (const [, port = ''] of command.matchAll(/\b(?:127\.0\.0\.1|localhost):(\d+)/g)) {
      real = real.replaceAll(`:${port}/`, `:${await this.#portOf(port)}/`)
    }
    return this.#runInShell(real)
  }

  async close(): Promise<void> {
    await this.#stop()
    rmSync(this.#directory, { recursive: true })
  }

  async #showStart(): Promise<string> {
    const server = await this.#serverOf(USUAL_PORT)
    await expect.poll(() => server.stdout).toContain('\ntry: ')
    return server.stdout.replaceAll(`:${await this.#portOf(USUAL_PORT)}`, `:${USUAL_PORT}`)
  }

  async #portOf(port: string): Promise<string> {
    const { stdout } = await this.#serverOf(port)
    return /^listening on \S+:(\d+)$/m.exec(stdout)?.[1] ?? ''
  }

  async #serverOf(port: string): Promise<CliProcess> {
    if (this.#running?.port === port) return this.#running.server
    await this.#stop()
    const server = await this.#start(port === USUAL_PORT ? [] : this.#readOptions(port))
    this.#running = { port, server }
    return server
  }

  async #stop(): Promise<void> {
    if (this.#running === undefined) return
    const { server } = this.#running
    this.#running = undefined
    server.kill('SIGTERM')
    expect(await server.code, server.stderr).toBe(0)
  }

  /** Of the line of the page that starts a server there. */
  #readOptions(port: string): string[] {
    const line = new RegExp(`^holdfast serve (.*--port ${port}\\b.*)$`, 'm').exec(this.#page)?.[1]
    expect(line, `no server is started on port ${port}`).toBeDefined()
    return (line ?? '').split(' ')
  }

  async #start(options: readonly string[]): Promise<CliProcess> {
    const server = new CliProcess(['serve', ...options, '--port', '0'], {
      cwd: this.#directory,
      env: { npm_lifecycle_event: 'start' },
    })
    await expect.poll(() => server.stdout.includes('\n') || server.hasEnded).toBe(true)
    expect(server.hasEnded, server.stderr).toBe(false)
    return server
  }

  /** The file that the page shows; the token of the first principal is one that is known here. */
  #tokens(): string {
    const shown = /^```toml\n(\[\[tokens\]\]\n[^]*?)^```$/m.exec(this.#page)?.[1] ?? ''
    const hash = createHash('sha256').update(TOKEN).digest('hex')
    return shown.replace(/"[0-9a-f]{64}"/, `"${hash}"`)
  }

  #write(name: string, text: string): void {
    writeFileSync(join(this.#directory, name), text)
  }

  #runInShell(command: string): Promise<string> {
    const options = { cwd: this.#directory, env: { ...process.env, TOKEN } }
    return new Promise((resolve, reject) => {
      execFile('sh', ['-c', command], options, (error, stdout) => {
        // A stream goes on until curl has had enough of it, which it calls a failure (28).
        if (error === null || error.code === 28) resolve(stdout)
        else reject(error)
      })
    })
  }
}
