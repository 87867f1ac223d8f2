import { findFreePort } from './free-port.ts'
import type { Service, ServiceOptions } from './service.ts'
import { startService } from './start-service.ts'

/** A cluster of one member. */
export function startEtcd(options: ServiceOptions = {}): Promise<Service> {
  return startService(
    {
      sources: { name: 'etcd', systemPackage: 'etcd-server', variable: 'HOLDFAST_TEST_ETCD_URL' },
      listArgs: async ({ directory, port }) => {
        const clients = toUrl(port)
        const peers = toUrl(await findFreePort())
        return [
          ...['--data-dir', directory, '--logger', 'zap', '--log-level', 'warn'],
          ...['--listen-client-urls', clients, '--advertise-client-urls', clients],
          ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
          ...['--initial-cluster', `default=${peers}`],
        ]
      },
      probe: ({ port }) => checkHealth(port),
      toUrl,
      stopSignal: 'SIGTERM',
    },
    options,
  )
}

function toUrl(port: number): string {
  return `http://127.0.0.1:${port}`
}

async function checkHealth(port: number): Promise<void> {
  const answer = await fetch(`${toUrl(port)}/health`)
  const { health } = (await answer.json()) as { readonly health: string }
  if (health !== 'true') throw new Error(`health is ${health}`)
}
