import type { EmbeddedOptions } from '../../src/engines/embedded/embedded-engine.ts'
import type { LockServerOptions } from '../../src/server/lock-server.ts'

/** How one server of a host is opened. Whatever `LockServer.open` takes is passed on as it is. */
export interface HostedServerOptions
  extends Omit<LockServerOptions, 'engine' | 'clock'>,
    Omit<EmbeddedOptions, 'clock' | 'law'> {
  readonly engine: 'memory:' | { readonly file: string }
  /** Leases, graces and patience stand still until `advance` moves them; sockets stay on real time. */
  readonly virtualClock?: boolean | undefined
}

export type HostCall =
  | { readonly kind: 'open'; readonly options: HostedServerOptions }
  | { readonly kind: 'advance'; readonly server: number; readonly ms: number }
  | { readonly kind: 'close'; readonly server: number }

/** What the parent sends: a call with a number that its answer carries too. */
export interface HostRequest {
  readonly id: number
  readonly call: HostCall
}

export interface OpenedServer {
  readonly server: number
  readonly url: string
  readonly port: number
}

export type HostAnswer =
  | { readonly id: number; readonly opened?: OpenedServer }
  | { readonly id: number; readonly failure: string }
