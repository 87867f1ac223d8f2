import { open } from 'node:fs/promises'
import { type Server, connect, createServer } from 'node:net'
import { join } from 'node:path'

/**
 * A sign of life that the system takes back when the process ends, however it ends: a socket in the
 * data directory on which the owner listens. Unlike a pid it cannot be given to somebody else, and
 * it is also seen from another container. Nothing is ever sent through it.
 */
export class ClaimSocket {
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  /** Listens, or returns null where the system or the file system has no such sockets. */
  static async tryListen(directory: string, name: string): Promise<ClaimSocket | null> {
    if (process.platform === 'win32') return null
    const server = createServer((connection) => connection.destroy())
    server.unref()
    try {
      await withShortPath(directory, name, (path) => listen(server, path))
      return new ClaimSocket(server)
    } catch {
      return null
    }
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve())
    })
  }
}

/** Whether somebody listens; null when that cannot be told. */
export async function isListening(directory: string, name: string): Promise<boolean | null> {
  if (process.platform === 'win32') return null
  try {
    return await withShortPath(directory, name, canConnect)
  } catch {
    return null
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    // Exclusive, or a worker of a cluster would have its primary listen instead.
    server.listen({ path, exclusive: true }, () => {
      server.off('error', reject)
      server.on('error', () => {})
      resolve()
    })
  })
}

function canConnect(path: string): Promise<boolean | null> {
  return new Promise((resolve) => {
    const connection = connect(path)
    connection.unref()
    const settle = (answer: boolean | null): void => {
      connection.destroy()
      resolve(answer)
    }
    connection.once('connect', () => settle(true))
    connection.once('error', ({ code }: NodeJS.ErrnoException) => {
      // A queue that is full has an owner who is too busy to empty it.
      if (code === 'ECONNREFUSED') settle(false)
      else settle(code === 'EAGAIN' ? true : null)
    })
  })
}

/**
 * A socket's path may have about a hundred bytes only. Linux lets us name the directory by an open
 * handle instead; elsewhere a directory with a long path goes without a socket.
 */
async function withShortPath<Result>(
  directory: string,
  name: string,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  if (process.platform !== 'linux') return use(join(directory, name))
  const handle = await open(directory, 'r')
  try {
    return await use(`/proc/self/fd/${handle.fd}/${name}`)
  } finally {
    await handle.close()
  }
}
