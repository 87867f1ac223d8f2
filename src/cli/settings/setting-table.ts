import {
  GRACE_MS_MAX,
  GRACE_MS_MIN,
  TTL_MS_MAX,
  TTL_MS_MIN,
} from '../../engine/validation/limits.ts'
import { LOG_LEVELS } from '../../server/observe/log.ts'
import type { Setting, SettingKind } from './setting.ts'

const TEXT: SettingKind = { is: 'text' }
const FLAG: SettingKind = { is: 'flag' }
const YEAR_MS = 366 * 86_400_000
const SPAN: SettingKind = { is: 'duration', minMs: 1, maxMs: YEAR_MS }

/** Every setting of `holdfast serve`, in the order in which the help shows them. */
export const SETTINGS: readonly Setting[] = [
  {
    name: 'host',
    kind: TEXT,
    takes: 'HOST',
    default: '127.0.0.1',
    meaning: 'address to listen on',
  },
  {
    name: 'port',
    kind: { is: 'whole', min: 0, max: 65_535 },
    takes: 'PORT',
    default: '8086',
    meaning: 'port to listen on; 0 takes any that is free',
    alsoVariable: 'PORT',
  },
  {
    name: 'engine',
    kind: TEXT,
    takes: 'URL',
    meaning:
      'in place of --data: `memory:`, `file:DIR`, `sqlite:FILE`, `postgres://…`, `mysql://…`',
  },
  {
    name: 'data',
    kind: TEXT,
    takes: 'DIR',
    default: './holdfast-data',
    meaning: 'directory of the journal; one server owns it',
  },
  {
    name: 'coordination',
    kind: { is: 'choice', of: ['server', 'client', 'mutex'] },
    takes: 'KIND',
    default: 'server',
    meaning: 'who coordinates operations: `server`, `client` or `mutex`',
  },
  {
    name: 'multi-node',
    kind: FLAG,
    default: 'on',
    meaning: 'queue an operation on a busy resource; off refuses it',
    alsoVariable: 'ALLOW_MULTI_NODE_DOWNLOAD',
  },
  {
    name: 'update-requires-no-ref',
    kind: FLAG,
    default: 'off',
    meaning: 'refuse an update while nodes reference the resource',
  },
  {
    name: 'retention',
    kind: SPAN,
    takes: 'TIME',
    default: '5m',
    meaning: 'how long the success of an operation is remembered',
  },
  {
    name: 'operation-ttl',
    kind: { is: 'duration', minMs: TTL_MS_MIN, maxMs: TTL_MS_MAX },
    takes: 'TIME',
    default: '1h',
    meaning: 'lease of an operation that asked for none',
  },
  {
    name: 'session-grace',
    kind: { is: 'duration', minMs: GRACE_MS_MIN, maxMs: GRACE_MS_MAX },
    takes: 'TIME',
    default: '5s',
    meaning: 'how long a waiter, or a stream session, may be without a connection',
  },
  {
    name: 'waiter-patience',
    kind: SPAN,
    takes: 'TIME',
    default: '90s',
    meaning: 'how long a client that only asks now and then keeps its place',
  },
  {
    name: 'claim-window',
    kind: SPAN,
    takes: 'TIME',
    default: '10s',
    meaning: 'how long such a client has to take its grant',
  },
  {
    name: 'lanes',
    kind: { is: 'names' },
    takes: 'NAMES',
    meaning: 'sub-queues in the order in which they are served, as in `delete,update,pull`',
  },
  {
    name: 'shards',
    kind: { is: 'whole', min: 1, max: 4096 },
    takes: 'N',
    default: '32',
    meaning: 'shards of the embedded engine',
  },
  {
    name: 'tokens',
    kind: TEXT,
    takes: 'FILE',
    meaning: 'who may do what; read again when it changes',
  },
  {
    name: 'tls-cert',
    kind: TEXT,
    takes: 'FILE',
    meaning: 'certificate of the server (PEM); read again when it changes',
  },
  { name: 'tls-key', kind: TEXT, takes: 'FILE', meaning: 'its private key (PEM)' },
  {
    name: 'tls-ca',
    kind: TEXT,
    takes: 'FILE',
    meaning: 'clients need a certificate that one of these has signed (PEM)',
  },
  {
    name: 'insecure',
    kind: FLAG,
    default: 'off',
    meaning: 'listen beyond this machine although no client has to show a token',
  },
  {
    name: 'limit',
    kind: { is: 'limits' },
    takes: 'NAME=VALUE',
    meaning: 'change a limit; can be given several times',
  },
  {
    name: 'log',
    kind: { is: 'choice', of: LOG_LEVELS },
    takes: 'LEVEL',
    default: 'info',
    meaning: `how much is logged: ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}`,
  },
]
