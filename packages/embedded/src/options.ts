import type { HttpBranchCallerOptions } from '@counterstep/branch-http'
import type { Store, StoreEvent } from '@counterstep/core'
import type { EngineSettings, Logger } from '@counterstep/engine'
import type { Registry } from '@counterstep/server/metrics'

export interface CounterstepOptions {
  /** A store that you give is yours to close, after Counterstep. A store that a function opens is closed with Counterstep. */
  readonly store: Store | OpenStore
  readonly targets: Targets
  /** How branches are called: bounds, and `signer`. */
  readonly calls?: Omit<HttpBranchCallerOptions, 'targets' | 'lookup' | 'listedOrigins'>
  readonly settings?: Partial<EngineSettings>
  /** Default: lines of JSON on standard output. Errors are cut down to what cannot hold a payload. */
  readonly logger?: Logger
  /** A registry of prom-client, for the metrics. Default: one of its own. */
  readonly registry?: Registry
}

/** Called once. What the store tells beside its answers is logged and counted if it gets `onEvent`. */
export type OpenStore = (onEvent: (event: StoreEvent) => void) => Promise<Store>

/**
 * Where branches may be called: the services and origins of a list; `loopback`, which is this machine, for development;
 * or, insecure, any https URL that a caller who submits can think of, inside your network too.
 */
export type Targets =
  | {
      /** `{ bank: 'https://bank.internal/api' }`: then `bank:/debit` in a branch's URL is under it. */
      readonly services?: Readonly<Record<string, string>>
      /** `https://bank.example`, `http://10.0.0.5:8080`, `https://*.example.internal`, `http://10.0.0.0/8:8080`. */
      readonly allow?: readonly string[]
    }
  | 'loopback'
  | 'insecure-any'
