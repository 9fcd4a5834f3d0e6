import { CLAIM_MAX, SLOW_FLOOR_MS } from '@counterstep/core'
import {
  CHECKPOINT_MS_MAX,
  RETRY_CAP_MS_MAX,
  RETRY_LIMIT_MAX,
  type RetryPolicy,
  TIMEOUT_MS_MAX,
} from '@counterstep/protocol'
import type { EngineSettings } from './settings.ts'

export type Bounds = readonly [min: number, max: number]

type BoundsOf<Settings> = Readonly<Record<keyof Settings, Bounds>>

const HOUR_MS = 3_600_000
const COUNT: Bounds = [1, 10_000_000]

/**
 * The limits of the settings that hosts let their users change. The settings are whole numbers, except `targetShare`
 * and a retry's `factor` and `jitter`, and `acceptNewKinds`, which is true or false. `retentionMs` and `parkAfterMs` may also be `'never'`, and
 * `targetCallsPerSecond` and a retry's `limit` may be null.
 */
export const SETTINGS_BOUNDS: BoundsOf<Omit<EngineSettings, 'retry' | 'acceptNewKinds'>> & {
  readonly retry: BoundsOf<RetryPolicy>
} = {
  inFlightMax: COUNT,
  leaseMs: [1_000, HOUR_MS],
  pollMs: [10, HOUR_MS],
  holdMs: [0, HOUR_MS],
  checkpointMs: [0, CHECKPOINT_MS_MAX],
  retentionMs: [60_000, 3_650 * 24 * HOUR_MS],
  branchTimeoutMs: [1, TIMEOUT_MS_MAX],
  retry: {
    initialMs: [1, RETRY_CAP_MS_MAX],
    factor: [1, 100],
    capMs: [1, RETRY_CAP_MS_MAX],
    jitter: [0, 1],
    limit: [1, RETRY_LIMIT_MAX],
  },
  storeTimeoutMs: [100, HOUR_MS],
  waitersMax: COUNT,
  claimLimit: [1, CLAIM_MAX],
  recoveryInFlightMax: COUNT,
  callsInFlightMax: COUNT,
  targetShare: [0.05, 1],
  targetCallsPerSecond: [1, 1_000_000],
  // It is not less than the branch timeout that a request without one gets, on either HTTP API.
  timeoutMsMax: [10_000, TIMEOUT_MS_MAX],
  // A branch that goes on failing is never called more than once a second.
  retryFloorMs: [SLOW_FLOOR_MS, HOUR_MS],
  parkAfterMs: [HOUR_MS, 3_650 * 24 * HOUR_MS],
  hintsMax: COUNT,
  memoryAckMax: COUNT,
  scansAtOnceMax: COUNT,
  readsAtOnceMax: COUNT,
  readsWaitingMax: COUNT,
  // The wait must end before the time limit of a request.
  readWaitMs: [1, 8_000],
}
