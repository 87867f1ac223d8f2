/** Starts a Redis, says where it is, and ends as it is told to, without stopping it. */
import { writeSync } from 'node:fs'
import { startRedis } from './redis.ts'
import { OWN } from './service.ts'

const { own } = await startRedis(OWN)
writeSync(1, JSON.stringify(own))
const [end = 'return'] = process.argv.slice(2)
if (end === 'throw') throw new Error('as told')
if (end !== 'return') process.kill(process.pid, end)
