/** A process that makes the tables: `migrate-process.ts <kind> <where>`. Ready when it says so. */
import { once } from 'node:events'
import { migrate } from '../../../../src/engines/sql/schema/migrate.ts'
import { MYSQL, POSTGRES, SQLITE } from '../test-servers.ts'

const [, , name, where = ''] = process.argv
const kind = [SQLITE, POSTGRES, MYSQL].find((one) => one.name === name)
if (kind === undefined) throw new Error(`no database is called ${name}`)
process.send?.('ready')
await once(process, 'message')
const database = await kind.open(where)
await migrate(database)
await database.close()
process.disconnect()
