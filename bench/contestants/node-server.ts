import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServerProcess } from '../../test/services/server-process.ts'
import { COMMAND_LINE } from '../built-package.ts'
import type { Locker } from './locker.ts'

const BARE_SERVER = fileURLToPath(new URL('./bare-http-server.ts', import.meta.url))

/** How a server of ours keeps its locks: in memory, or on disk as it does by default. */
export type HoldfastStorage = 'memory' | 'durable'

export function openOnHoldfast(
  storage: HoldfastStorage,
  open: (url: string) => Promise<Locker> | Locker,
): Promise<Locker> {
  const listArgs = (directory: string): string[] => [
    ...[COMMAND_LINE, 'serve', '--port', '0'],
    ...(storage === 'memory' ? ['--engine', 'memory:'] : ['--data', join(directory, 'data')]),
  ]
  return openOnServer(listArgs, open)
}

export function openOnBareHttp(open: (url: string) => Promise<Locker> | Locker): Promise<Locker> {
  return openOnServer(() => ['--import', import.meta.resolve('tsx'), BARE_SERVER], open)
}

/** A server in a process of its own, which says where it listens, and a locker that talks to it. */
async function openOnServer(
  listArgs: (directory: string) => string[],
  open: (url: string) => Promise<Locker> | Locker,
): Promise<Locker> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  const server = await ServerProcess.start({
    path: process.execPath,
    args: listArgs(directory),
    directory,
    stopSignal: 'SIGTERM',
  })
  try {
    const url = await server.waitUntilReady(async () => parseAddress(server.readLog()))
    const locker = await open(url)
    return {
      cycle: locker.cycle,
      serverCpuMs: () => server.readCpuMs(),
      close: async () => {
        await locker.close()
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

function parseAddress(log: string): string {
  const address = /listening on (http:\/\/127\.0\.0\.1:\d+)/.exec(log)?.[1]
  if (address === undefined) throw new Error(`no address in: ${log}`)
  return address
}
