import { setTimeout as sleep } from 'node:timers/promises'
import { CliProcess } from '../../cli/cli-process.ts'

const MIB = 1024 * 1024
const SAMPLE_MS = 100

/** A server with its default limits in a process of its own, whose memory is watched while it is attacked. */
export class AttackedServer {
  readonly port: number
  readonly #process: CliProcess
  readonly #url: string
  #baseBytes = 0
  #peakBytes = 0

  private constructor(process: CliProcess, url: string) {
    this.#process = process
    this.#url = url
    this.port = Number(new URL(url).port)
  }

  static async start(args: readonly string[] = []): Promise<AttackedServer> {
    const process = new CliProcess(['serve', '--engine', 'memory:', '--port', '0', ...args])
    let url: string | undefined
    while (url === undefined) {
      if (process.hasEnded) throw new Error(`the server has ended: ${process.stderr}`)
      url = /https?:\/\/[\w.:]+\d/.exec(process.stdout)?.[0]
      await sleep(SAMPLE_MS)
    }
    const server = new AttackedServer(process, url)
    await server.#sample()
    server.#baseBytes = server.#peakBytes
    return server
  }

  /** Connections that the server has, apart from the one that asks. */
  async connections(): Promise<number> {
    return (await this.#metric('holdfast_http_connections')) - 1
  }

  /** One number of its metrics. */
  gauge(name: string): Promise<number> {
    return this.#metric(name)
  }

  /** Runs an attack, prints what it took, and returns by how many MiB the memory of the server grew at most. */
  async attack(what: string, run: () => Promise<void>): Promise<number> {
    const end = { isReached: false }
    const sampling = (async () => {
      while (!end.isReached) {
        await this.#sample()
        await sleep(SAMPLE_MS)
      }
    })()
    await run()
    end.isReached = true
    await sampling
    const [base, peak] = [this.#baseBytes, this.#peakBytes].map((bytes) => Math.round(bytes / MIB))
    const grown = (peak ?? 0) - (base ?? 0)
    console.log(`${what}: ${base} MiB before, at most ${peak} MiB, which is ${grown} MiB more`)
    return grown
  }

  async isAlive(): Promise<boolean> {
    return !this.#process.hasEnded && (await this.#ask('/readyz')).ok
  }

  async close(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#process.code
  }

  async #sample(): Promise<void> {
    const bytes = await this.#metric('process_resident_memory_bytes')
    this.#peakBytes = Math.max(this.#peakBytes, bytes)
  }

  /** A server that is busy for seconds may cut a connection whose head it has not read in time. */
  async #ask(path: string): Promise<Response> {
    for (;;) {
      try {
        return await fetch(this.#url + path)
      } catch (error) {
        if (this.#process.hasEnded) throw error
        await sleep(SAMPLE_MS)
      }
    }
  }

  async #metric(name: string): Promise<number> {
    const text = await (await this.#ask('/metrics')).text()
    return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
  }
}
