import { afterAll, afterEach, beforeAll } from 'vitest'
import type { ServerKind, TestServer } from './test-servers.ts'

const START_MS_MAX = 300_000

/** A server that runs while the tests of one block do. */
export interface UsedServer {
  /** An empty database: its address, or its file. */
  create(): Promise<string>
  /** Hands back what is to be closed after the test; what was handed in last is closed first. */
  closing<T extends Closable>(opened: T): T
}

interface Closable {
  close(): Promise<unknown>
}

export function useServer(kind: ServerKind): UsedServer {
  let server: TestServer
  const open: Closable[] = []

  beforeAll(async () => {
    server = await kind.start()
  }, START_MS_MAX)

  afterEach(async () => {
    for (let last = open.pop(); last !== undefined; last = open.pop()) await last.close()
  })

  afterAll(() => server.stop())

  return {
    create: () => server.create(),
    closing(opened) {
      open.push(opened)
      return opened
    },
  }
}
