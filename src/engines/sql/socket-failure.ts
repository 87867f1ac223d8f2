/** What the operating system says of a connection that is gone, or that could not be made. */
const SOCKET_CODES: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
])

export function isSocketFailure(error: unknown): boolean {
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown }
  return SOCKET_CODES.has(code) || syscall === 'connect'
}
