import { afterEach, describe, expect, it } from 'vitest'
import { MYSQL, POSTGRES, SQLITE } from '../../engines/sql/test-servers.ts'
import { useServer } from '../../engines/sql/use-server.ts'
import { ServeRig, type Serving } from './served-process.ts'

const TIMEOUT_MS = 120_000
const rig = new ServeRig()

afterEach(() => rig.close())

describe.each([
  { kind: SQLITE, toUrl: (file: string) => `sqlite:${file}` },
  { kind: POSTGRES, toUrl: (url: string) => url },
  { kind: MYSQL, toUrl: (url: string) => url },
])('servers on one database, in $kind.name', { timeout: TIMEOUT_MS }, ({ kind, toUrl }) => {
  const server = useServer(kind)

  it('say so when their settings of the law differ, at the start and in their metrics', async () => {
    const engine = toUrl(await server.create())
    const first = await rig.serve(['--engine', engine])
    // What does not change the law may differ.
    const alike = await rig.serve(['--engine', engine, '--claim-window', '3s'])
    expect([await readDiffering(first.url), await readDiffering(alike.url)]).toEqual([0, 0])
    expect(warningsIn(first) + warningsIn(alike)).toBe('')
    alike.started.kill('SIGTERM')
    expect(await alike.started.code).toBe(0)

    const other = await rig.serve([
      ...['--engine', engine, '--lanes', 'delete,pull', '--retention', '1m', '--no-multi-node'],
      ...['--update-requires-no-ref', '--coordination', 'mutex', '--claim-window', '3s'],
    ])
    expect(warningsIn(other)).toContain(
      `process ${first.started.pid}: coordination server, here mutex; multi-node on, here off; ` +
        'retention 300s, here 60s; lanes none, here delete,pull; ' +
        'update-requires-no-ref off, here on"',
    )
    expect(warningsIn(other)).toMatch(/^.*"level":"warn".*$/)
    expect(await readDiffering(other.url)).toBe(1)

    // The first one could not know at its start; it says so when it is looked at, and once.
    expect(warningsIn(first)).toBe('')
    expect([await readDiffering(first.url), await readDiffering(first.url)]).toEqual([1, 1])
    await expect.poll(() => warningsIn(first)).toContain(`process ${other.started.pid}: `)
    expect(warningsIn(first)).toMatch(/^.*"level":"warn".*$/)

    other.started.kill('SIGTERM')
    expect(await other.started.code).toBe(0)
    expect(await readDiffering(first.url)).toBe(0)
  })
})

async function readDiffering(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^holdfast_differing_servers (\d+)$/m.exec(text)?.[1])
}

/** The lines of its log that speak of other servers. */
function warningsIn({ started }: Serving): string {
  return started.stderr
    .split('\n')
    .filter((line) => line.includes('other settings'))
    .join('\n')
}
