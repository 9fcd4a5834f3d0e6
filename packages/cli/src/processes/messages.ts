/** The processes of one `counterstep serve --processes` send these to each other over the channel between them. */
import type { MetricValuesOfProcess } from '@counterstep/server'

export interface Urls {
  readonly url: string
  /** This is the URL of the console, if it is on. */
  readonly consoleUrl?: string
  /** This is the URL of DTM's HTTP API, if it is on. */
  readonly dtmUrl?: string
  /** This is where DTM's gRPC API is, if it is on. */
  readonly dtmGrpcUrl?: string
}

export type ToSupervisor =
  | { readonly type: 'ready'; readonly urls: Urls }
  /** A client of this worker has asked for the metrics of all. */
  | { readonly type: 'ask-metrics'; readonly id: number }
  | { readonly type: 'metrics'; readonly id: number; readonly metrics: MetricValuesOfProcess }
  /** The worker is about to stop. */
  | { readonly type: 'last-metrics'; readonly metrics: MetricValuesOfProcess }

export type ToWorker =
  /** Take no new connection, answer on those that are there, and stop once they have ended. */
  | { readonly type: 'retire' }
  | { readonly type: 'stop'; readonly reason: string }
  | { readonly type: 'read-metrics'; readonly id: number }
  /** Those of all workers that have answered in time. */
  | { readonly type: 'all-metrics'; readonly id: number; readonly all: readonly MetricValuesOfProcess[] }
