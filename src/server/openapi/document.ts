import { CONTRACT_PATHS } from './contract-paths.ts'
import type { Json } from './describe.ts'
import { LOCK_PATHS } from './lock-paths.ts'
import { OPERATION_PATHS } from './operation-paths.ts'
import { SCHEMAS } from './schemas.ts'

/** The HTTP interface for tools. Written by hand; a test compares it with the routes, both ways. */
export const OPENAPI: Json = {
  openapi: '3.1.0',
  info: {
    title: 'Holdfast',
    version: '1',
    description:
      'Locks with fair queues, leases and fencing tokens. Unknown fields are ignored; `null` is the same as absent.',
    license: { name: 'MIT' },
  },
  security: [{ bearer: [] }],
  paths: { ...LOCK_PATHS, ...OPERATION_PATHS, ...CONTRACT_PATHS },
  components: {
    schemas: SCHEMAS,
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
  },
}
