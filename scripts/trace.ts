import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFileEngine } from '../src/engines/embedded/embedded-engine.ts'
import { connect } from '../src/locks/connect.ts'
import { LockServer } from '../src/server/lock-server.ts'

// Prints the source files that one acquire and one hand-off really run, by the coverage of V8: client,
// session, server and the engine on disk, all in this process.
//
//   npm run trace

const ROUNDS = 20
const directory = mkdtempSync(join(tmpdir(), 'holdfast-trace-'))
const engine = await openFileEngine(join(directory, 'data'))
const server = await LockServer.open({ engine })
const locks = await connect(server.url)
const inspector = new Session()
inspector.connect()

async function acquire(key: string): Promise<void> {
  const lock = await locks.acquire(key)
  await lock.release()
}

/** The first holder releases while the second waits. */
async function handOff(key: string): Promise<void> {
  const first = await locks.acquire(key)
  const second = locks.acquire(key)
  await first.release()
  await (await second).release()
}

/** The files with at least one function that ran, and how many functions each has that did. */
async function trace(run: (key: string) => Promise<void>): Promise<Map<string, number>> {
  for (let round = 0; round < ROUNDS; round += 1) await run(`warm-${round}`)
  await inspector.post('Profiler.enable')
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await run('traced')
  const { result } = await inspector.post('Profiler.takePreciseCoverage')
  await inspector.post('Profiler.stopPreciseCoverage')
  const files = new Map<string, number>()
  for (const { url, functions } of result) {
    const [, path] = url.split('/src/')
    const ran = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length
    if (path !== undefined && !url.includes('/node_modules/') && ran > 0) files.set(path, ran)
  }
  return files
}

for (const [name, run] of [
  ['acquire and release', acquire],
  ['hand-off', handOff],
] as const) {
  const files = await trace(run)
  const functions = [...files.values()].reduce((sum, count) => sum + count, 0)
  process.stdout.write(`${name}: ${files.size} files, ${functions} functions\n`)
  for (const path of [...files.keys()].toSorted()) {
    process.stdout.write(`  ${path} ${files.get(path)}\n`)
  }
}

await locks.close()
await server.close()
await engine.close()
rmSync(directory, { recursive: true })
