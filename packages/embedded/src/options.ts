import type { KeyFinder, QuotaBounds } from '@counterstep/access'
import type { HttpBranchCallerOptions } from '@counterstep/branch-http'
import type { Store, StoreEvent } from '@counterstep/core'
import type { EngineSettings, Logger } from '@counterstep/engine'
import type { Registry } from '@counterstep/server'

export interface CounterstepOptions {
  /** A store is yours, to close too, after the app. What a function opens is the plugin's: it goes with the app. */
  readonly store: Store | OpenStore
  readonly targets: Targets
  /** Transactions over HTTP. Default: none; `app.counterstep` is the only way in. */
  readonly face?: Face | false
  /** How branches are called: bounds, and `signer`. */
  readonly calls?: Omit<HttpBranchCallerOptions, 'targets' | 'lookup'>
  readonly settings?: Partial<EngineSettings>
  /** Default: the app's, with errors cut down to what cannot hold a payload. */
  readonly logger?: Logger
  /** Of prom-client, for the metrics. Default: one of the plugin's own; the face shows it under /metrics. */
  readonly registry?: Registry
}

/** Called once. What the store tells beside its answers is logged and counted if it gets `onEvent`. */
export type OpenStore = (onEvent: (event: StoreEvent) => void) => Promise<Store>

/**
 * Where branches may be called: the services and origins of a list; `loopback`, which is this machine, for development;
 * or, insecure, any https URL that whoever submits can think of, inside your network too.
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

export type Face = FacePlace & FaceKeys

interface FacePlace {
  /** Default: `/counterstep`. */
  readonly prefix?: string
  /** Names that a Host header may have, and a page that calls. */
  readonly allowedHosts?: readonly string[]
  /** Bytes of request bodies that the face holds at once, in all, until each is whole. Default: 32 MiB. */
  readonly unreadBodyBytesMax?: number
}

/** Who may use the face. */
export type FaceKeys =
  | {
      /** Made by `counterstep keys create`. Read again when it changes. */
      readonly keysFile: string
      /** Requests per second of one key in this process. Default: no bound. */
      readonly ratePerKey?: number
      /** One key may have so much stored in a day (UTC) by this process. Default: no bound. */
      readonly quotaPerKey?: QuotaBounds
    }
  | {
      /** Keys from elsewhere. */
      readonly keys: KeyFinder
      readonly ratePerKey?: number
      readonly quotaPerKey?: QuotaBounds
    }
  /** Whoever reaches it. Only a loopback `Host` is answered, unless `allowedHosts` names others. */
  | { readonly insecureNoKeys: true }
