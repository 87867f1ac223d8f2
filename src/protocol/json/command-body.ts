import type { Command } from '../../law/commands.ts'
import { type BadField, type Field, fields, readFields } from './fields.ts'

/** The body of every command, in the order in which the documentation shows its fields. */
const COMMAND_FIELDS: Readonly<Record<Command['kind'], readonly Field[]>> = {
  acquire: fields(
    'key!',
    'owner!',
    'request_id',
    'mode',
    'ttl_ms:number',
    'wait_ms:wait',
    'detach:boolean',
    'party',
    'lane',
    'session',
    'meta:object',
  ),
  release: fields('key!', 'owner!', 'mode', 'token:number', 'request_id'),
  renew: fields('key!', 'owner!', 'ttl_ms!:number', 'token:number'),
  cancel: fields('key!', 'owner!', 'request_id', 'reason'),
  force: fields('key!', 'owner', 'namespace'),
  begin: fields(
    'type!',
    'resource!',
    'node!',
    'version',
    'request_id',
    'ttl_ms:number',
    'wait_ms:wait',
    'lane',
    'session',
    'coordination',
    'meta:object',
  ),
  finish: fields(
    'type!',
    'resource!',
    'node!',
    'success!:boolean',
    'error',
    'value:json',
    'token:number',
    'request_id',
    'coordination',
  ),
  withdraw: fields('type!', 'resource!', 'node!', 'reason'),
  unref: fields('resource', 'node!'),
  'open-session': fields('session!', 'grace_ms!:number', 'keeps_leases:boolean'),
  'touch-session': fields('session!'),
  'close-session': fields('session!'),
  sweep: [],
}

/**
 * The command of a body. Types are checked here; whether the values make sense is the law's business,
 * which every engine asks before anything else. An `acquire` without a request id comes back without.
 */
export function readCommand<K extends Command['kind']>(
  kind: K,
  body: unknown,
): { readonly command: Extract<Command, { kind: K }> } | { readonly problem: BadField } {
  const read = readFields(COMMAND_FIELDS[kind], body, { kind })
  if ('problem' in read) return read
  return { command: read.values as unknown as Extract<Command, { kind: K }> }
}
