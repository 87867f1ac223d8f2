import { Client } from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { startPostgres } from './postgres.ts'
import { OWN, type Service } from './service.ts'
import { listRemains } from './service-facts.ts'

const started: Service[] = []
const clients: Client[] = []

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end()))
  await Promise.all(started.splice(0).map((service) => service.stop()))
})

async function start(): Promise<Service> {
  const service = await startPostgres(OWN)
  started.push(service)
  return service
}

async function connect(service: Service): Promise<Client> {
  const client = new Client({ connectionString: service.url })
  client.on('error', () => {})
  await client.connect()
  clients.push(client)
  return client
}

describe('a PostgreSQL of our own', () => {
  it('answers, and leaves nothing behind when it is stopped', async () => {
    const service = await start()
    const client = await connect(service)
    const { rows } = await client.query('SELECT 6 * 7 AS answer')
    expect(rows).toEqual([{ answer: 42 }])
    expect(await listRemains(service)).toHaveLength(3)
    await service.stop()
    expect(await listRemains(service)).toEqual([])
  })

  it('has nothing in common with another one', async () => {
    const [one, other] = await Promise.all([start(), start()])
    await (await connect(one)).query('CREATE TABLE only_here ()')
    const missing = (await connect(other)).query('SELECT FROM only_here')
    await expect(missing).rejects.toThrow('does not exist')
  })

  it('answers nothing on open connections while it is paused', async () => {
    const service = await start()
    const client = await connect(service)
    service.pause()
    let isAnswered = false
    const answer = client.query('SELECT 1').finally(() => {
      isAnswered = true
    })
    // Whoever is not paused has long answered by the time that a new server has started.
    await start()
    expect(isAnswered).toBe(false)
    service.resume()
    expect((await answer).rowCount).toBe(1)
  })

  it('breaks its connections when it is killed', async () => {
    const service = await start()
    const client = await connect(service)
    const ended = new Promise<void>((resolve) => client.on('end', () => resolve()))
    await service.kill()
    await ended
    expect(await listRemains(service)).toEqual(['its directory'])
  })
})

describe('a PostgreSQL that the environment names', () => {
  it('is handed out as it is', async () => {
    const url = 'postgres://ada:secret@127.0.0.1:7003/locks'
    const service = await startPostgres({ environment: { HOLDFAST_TEST_POSTGRES_URL: url } })
    expect(service.url).toBe(url)
    expect(() => service.pause()).toThrow(/^(?!.*secret)/)
  })
})
