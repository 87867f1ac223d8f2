import { connect } from 'node:net'

/** Sends bytes to a port and collects what comes back until the other side closes. */
export function sendRaw(port: number, ...chunks: readonly (string | Buffer)[]): Promise<string> {
  return exchange(port, chunks, false)
}

/** The same, and closes this side after the last byte. */
export function sendRawAndEnd(port: number, bytes: Buffer): Promise<string> {
  return exchange(port, [bytes], true)
}

function exchange(
  port: number,
  chunks: readonly (string | Buffer)[],
  ends: boolean,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let got = ''
    const socket = connect({ port, host: '127.0.0.1' }, () => {
      for (const chunk of chunks) socket.write(chunk)
      if (ends) socket.end()
    })
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      got += text
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') resolve(got)
      else reject(error)
    })
    socket.on('close', () => resolve(got))
  })
}

/** The status of an answer in HTTP/1.1; 0 for none. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
}
