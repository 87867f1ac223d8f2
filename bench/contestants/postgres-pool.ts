import { Pool } from 'pg'

/** Connections last for as long as the bench, and are not made anew after another one's turn. */
export function createPostgresPool(url: string, connections: number): Pool {
  const pool = new Pool({ connectionString: url, max: connections, idleTimeoutMillis: 0 })
  // The pool says good-bye without waiting, so the server may end a connection first.
  pool.on('error', () => {})
  return pool
}
