import type { HttpBranchCallerOptions, InProcessServices } from '@counterstep/branch-http'
import type { Store, StoreEvent } from '@counterstep/core'
import type { EngineSettings, EngineTracer, Logger } from '@counterstep/engine'
import type { Registry } from '@counterstep/server/metrics'

export interface CounterstepOptions {
  /**
   * If you give an open store, close it yourself after you have closed Counterstep. If you give a function that opens
   * the store, Counterstep closes it.
   */
  readonly store: Store | OpenStore
  /** It may be left out if `branches` are given and no others are called. */
  readonly targets?: Targets
  /**
   * These branches are functions of this process, called without HTTP: `{ stock: { '/reserve': (call) => answerBranch(barrier,
   * reserve, call) } }` is called by the URL `stock:/reserve`, with the SDK's `answerBranch`. Every process that shares the store
   * must have them.
   */
  readonly branches?: InProcessServices
  /** These options bound the calls of branches, and `signer` signs them. */
  readonly calls?: Omit<HttpBranchCallerOptions, 'targets' | 'lookup' | 'listedOrigins'>
  readonly settings?: Partial<EngineSettings>
  /** The default writes lines of JSON to standard output, without the parts of an error that may have a payload. */
  readonly logger?: Logger
  /** `openTelemetryTracer()` of `counterstep/telemetry` makes spans of what is done here. By default none are made. */
  readonly tracer?: EngineTracer
  /** The metrics go to this registry of prom-client. By default Counterstep makes one. */
  readonly registry?: Registry
}

/** Opens the store, and is called once. The events of a store that gets `onEvent` are logged and counted. */
export type OpenStore = (onEvent: (event: StoreEvent) => void) => Promise<Store>

/**
 * Says where branches may be called: at the services and origins of a list; with `loopback`, which is for development,
 * on this machine; or with `insecure-any` at any https URL that a client submits, also inside your network.
 */
export type Targets =
  | {
      /** If it is `{ bank: 'https://bank.internal/api' }`, the URL `bank:/debit` of a branch is under that URL. */
      readonly services?: Readonly<Record<string, string>>
      /**
       * Examples are `https://bank.example`, `http://10.0.0.5:8080`, `https://*.example.internal` and
       * `http://10.0.0.0/8:8080`.
       */
      readonly allow?: readonly string[]
    }
  | 'loopback'
  | 'insecure-any'
