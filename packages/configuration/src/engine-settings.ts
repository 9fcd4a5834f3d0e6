import { CLAIM_MAX } from '@counterstep/core'
import { DEFAULT_SETTINGS } from '@counterstep/engine'
import { CHECKPOINT_MS_MAX, RETRY_CAP_MS_MAX, RETRY_LIMIT_MAX, TIMEOUT_MS_MAX } from '@counterstep/protocol'
import { decimal, orWord, setting, wholeNumber } from './setting.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const { retry } = DEFAULT_SETTINGS

/** How transactions are run, and how many at once. */
export const ENGINE_SETTINGS = {
  retentionMs: setting(
    'retention-ms',
    DEFAULT_SETTINGS.retentionMs,
    'how long a finished transaction is kept, or never (to purge)',
    orWord('never', 'never' as const, wholeNumber(60_000, 3_650 * DAY_MS)),
  ),
  leaseMs: setting(
    'lease-ms',
    DEFAULT_SETTINGS.leaseMs,
    'how long a node owns what it runs',
    wholeNumber(1_000, HOUR_MS),
  ),
  pollMs: setting(
    'poll-ms',
    DEFAULT_SETTINGS.pollMs,
    'how often what is due is looked for',
    wholeNumber(10, HOUR_MS),
  ),
  holdMs: setting(
    'hold-ms',
    DEFAULT_SETTINGS.holdMs,
    'longest wait spent in memory',
    wholeNumber(0, HOUR_MS),
  ),
  checkpointMs: setting(
    'checkpoint-ms',
    DEFAULT_SETTINGS.checkpointMs,
    'how long progress may stay unsaved; 0 saves each result first',
    wholeNumber(0, CHECKPOINT_MS_MAX),
  ),
  branchTimeoutMs: setting(
    'branch-timeout-ms',
    DEFAULT_SETTINGS.branchTimeoutMs,
    'limit of one branch call',
    wholeNumber(1, TIMEOUT_MS_MAX),
  ),
  storeTimeoutMs: setting(
    'store-timeout-ms',
    DEFAULT_SETTINGS.storeTimeoutMs,
    'limit of one wait for the store',
    wholeNumber(100, HOUR_MS),
  ),
  retryInitialMs: setting(
    'retry-initial-ms',
    retry.initialMs,
    'first wait before asking again',
    wholeNumber(1, RETRY_CAP_MS_MAX),
  ),
  retryFactor: setting('retry-factor', retry.factor, 'growth of that wait', decimal(1, 100)),
  retryCapMs: setting('retry-cap-ms', retry.capMs, 'longest such wait', wholeNumber(1, RETRY_CAP_MS_MAX)),
  retryJitter: setting('retry-jitter', retry.jitter, 'share of the wait that is random', decimal(0, 1)),
  retryLimit: setting(
    'retry-limit',
    retry.limit ?? 'none',
    'failed attempts of an action before the saga turns around, or none',
    orWord('none', null, wholeNumber(1, RETRY_LIMIT_MAX)),
  ),
  inFlightMax: bound('in-flight-max', DEFAULT_SETTINGS.inFlightMax, 'transactions held at once'),
  callsInFlightMax: bound('calls-in-flight-max', DEFAULT_SETTINGS.callsInFlightMax, 'branch calls at once'),
  waitersMax: bound('waiters-max', DEFAULT_SETTINGS.waitersMax, 'callers waiting for an end at once'),
  recoveryInFlightMax: bound(
    'recovery-in-flight-max',
    DEFAULT_SETTINGS.recoveryInFlightMax,
    'transactions that recovery holds at once',
  ),
  claimLimit: setting(
    'claim-limit',
    DEFAULT_SETTINGS.claimLimit,
    'rows claimed at once',
    wholeNumber(1, CLAIM_MAX),
  ),
  hintsMax: bound('hints-max', DEFAULT_SETTINGS.hintsMax, 'future due instants remembered'),
  memoryAckMax: bound('memory-ack-max', DEFAULT_SETTINGS.memoryAckMax, 'submits with ack "memory" at once'),
} as const

function bound(flag: string, fallback: number, help: string) {
  return setting(flag, fallback, help, wholeNumber(1, 10_000_000))
}
