import { once } from 'node:events'
import { connect } from 'node:net'
import type { Service, ServiceOptions } from './service.ts'
import { startService } from './start-service.ts'

export interface RedisOptions extends ServiceOptions {
  /** `always` syncs every write to disk before it is answered; `no` keeps nothing at all. */
  readonly appendonly?: 'always' | 'no'
}

/** A given server has the settings that its owner chose, so that each choice has its own variable. */
const VARIABLES = {
  no: 'HOLDFAST_TEST_REDIS_URL',
  always: 'HOLDFAST_TEST_REDIS_AOF_URL',
} as const

export function startRedis(options: RedisOptions = {}): Promise<Service> {
  const { appendonly = 'no' } = options
  const persistence =
    appendonly === 'no'
      ? ['--appendonly', 'no']
      : ['--appendonly', 'yes', '--appendfsync', 'always']
  return startService(
    {
      sources: {
        name: 'redis-server',
        systemPackage: 'redis-server',
        variable: VARIABLES[appendonly],
      },
      listArgs: ({ directory, port }) => [
        ...['--port', String(port), '--bind', '127.0.0.1', '--dir', directory],
        ...['--save', '', ...persistence],
      ],
      probe: ({ port }) => ping(port),
      toUrl: (port) => `redis://127.0.0.1:${port}`,
      stopSignal: 'SIGTERM',
    },
    options,
  )
}

/** A server that still loads its data answers something else. */
async function ping(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  try {
    socket.write('PING\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    if (!answer.toString().startsWith('+PONG')) throw new Error(answer.toString())
  } finally {
    socket.destroy()
  }
}
