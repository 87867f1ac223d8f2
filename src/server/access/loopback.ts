import { isIPv4 } from 'node:net'

/** Whether a host, as an address or as a URL names it, is this machine and nothing that others reach. */
export function isLoopback(host: string): boolean {
  if (host.startsWith('127.')) return isIPv4(host)
  return host === '::1' || host === '[::1]' || host.toLowerCase() === 'localhost'
}
