import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { OwnServer, Service } from './service.ts'

const POLL_EVERY_MS = 10

/** A zombie, which nobody may be there to reap, does not run. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    const status = `/proc/${pid}/status`
    return !existsSync(status) || !/^State:\s+Z/m.test(readFileSync(status, 'utf8'))
  } catch {
    return false
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
}

/** What is left of a server that we started: nothing, once it was stopped. */
export async function listRemains(service: Service): Promise<string[]> {
  const { pid, directory } = service.own as OwnServer
  const remains: string[] = []
  if (isRunning(pid)) remains.push('its process')
  if (existsSync(directory)) remains.push('its directory')
  if (await isListening(service.port)) remains.push('its port')
  return remains
}

/** For what another process does in its own time; the test's own time-out ends it. */
export async function waitUntil(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await delay(POLL_EVERY_MS)
}
