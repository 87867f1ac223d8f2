/** A process that listens and has nothing else to do: `listen-process.ts <url>`. */
import { openPostgres } from '../../../../src/engines/sql/postgres/open-postgres.ts'

const database = await openPostgres(process.argv[2] ?? '')
await database.listen('me', () => {})
process.send?.('listening')
process.disconnect()
