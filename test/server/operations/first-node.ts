/** A node in a process of its own: it asks for the pull of `layer`, tells its parent, and works for ever. */
import { LockClient } from '../../../src/client/lock-client.ts'

const [server = '', nodeId = ''] = process.argv.slice(2)
const client = new LockClient({ server, nodeId })
const { acquired } = await client.lock({ type: 'pull', resourceId: 'layer' })
process.send?.({ acquired })
