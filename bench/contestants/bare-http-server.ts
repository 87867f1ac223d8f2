/** The ceiling of everything over plain HTTP: takes JSON, answers JSON, decides nothing. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

interface LockRequest {
  readonly key: string
  readonly owner: string
}

async function readJson(request: IncomingMessage): Promise<LockRequest> {
  const chunks: Buffer[] = []
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', reject)
    request.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString()) as LockRequest))
  })
}

/** As long as what the lock server answers. */
function answer(path: string | undefined, { key, owner }: LockRequest): string {
  if (path !== '/v1/acquire') return JSON.stringify({ released: true, reads: 0, writes: 0 })
  const hold = { mode: 'write', token: 17, lease_ms: 30_000, reads: 0, writes: 1 }
  return JSON.stringify({ outcome: 'granted', key, owner, ...hold })
}

const server = createServer((request, response) => {
  void readJson(request).then((body) => {
    const text = answer(request.url, body)
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(text),
    }
    response.writeHead(200, headers).end(text)
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`)
})
