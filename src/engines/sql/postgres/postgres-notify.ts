import { ALL_PROCESSES } from '../sql-dialect.ts'

/** One for all processes: what is sent names those that are meant. */
export const CHANNEL = 'holdfast'

/** The server takes less than 8000 bytes at once. */
const PAYLOAD_BYTES_MAX = 7900

/** The words of processes, as few messages as they fit into. */
export function toPayloads(processes: readonly string[]): string[] {
  if (processes.includes(ALL_PROCESSES)) return [ALL_PROCESSES]
  const payloads: string[] = []
  let payload = ''
  for (const process of new Set(processes)) {
    if (payload.length + process.length >= PAYLOAD_BYTES_MAX) {
      payloads.push(payload)
      payload = ''
    }
    payload += payload === '' ? process : ` ${process}`
  }
  return payload === '' ? payloads : [...payloads, payload]
}

export function isRungFor(process: string, payload: string): boolean {
  return payload === ALL_PROCESSES || payload.split(' ').includes(process)
}
