import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A lock server, and how to be rid of it. */
export interface OwnServer {
  readonly url: string
  stop(): Promise<void>
}

const HOLDFAST = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const READY = /listening on (http:\S+)/

/** `holdfast serve` in a process of its own, in memory, on any port that is free. */
export async function startOwnServer(): Promise<OwnServer> {
  const args = [HOLDFAST, 'serve', '--port', '0', '--engine', 'memory:', '--log', 'error']
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => {
    server.once('exit', () => resolve())
  })
  for await (const line of createInterface(server.stdout)) {
    const url = READY.exec(line)?.[1]
    if (url === undefined) continue
    server.stdout.resume()
    const stop = (): Promise<void> => {
      server.kill('SIGTERM')
      return ended
    }
    return { url, stop }
  }
  throw new Error('the server ended before it was ready')
}
