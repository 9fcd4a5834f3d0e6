import { SETTINGS_BOUNDS as BOUNDS, DEFAULT_SETTINGS, type EngineSettings } from '@counterstep/engine'
import { decimal, orWord, setting, wholeNumber } from './setting.ts'

const { retry } = DEFAULT_SETTINGS

/** How transactions are run, and how many at once. */
export const ENGINE_SETTINGS = {
  retentionMs: setting(
    'retention-ms',
    DEFAULT_SETTINGS.retentionMs,
    'how long a finished transaction is kept, or never (to purge)',
    orWord('never', 'never' as const, wholeNumber(...BOUNDS.retentionMs)),
  ),
  leaseMs: wholeSetting('lease-ms', 'leaseMs', 'how long a node owns what it runs'),
  pollMs: wholeSetting('poll-ms', 'pollMs', 'how often what is due is looked for'),
  holdMs: wholeSetting('hold-ms', 'holdMs', 'longest wait spent in memory'),
  checkpointMs: wholeSetting(
    'checkpoint-ms',
    'checkpointMs',
    'how long progress may stay unsaved; 0 saves each result first',
  ),
  branchTimeoutMs: wholeSetting('branch-timeout-ms', 'branchTimeoutMs', 'limit of one branch call'),
  storeTimeoutMs: wholeSetting('store-timeout-ms', 'storeTimeoutMs', 'limit of one wait for the store'),
  retryInitialMs: setting(
    'retry-initial-ms',
    retry.initialMs,
    'first wait before asking again',
    wholeNumber(...BOUNDS.retry.initialMs),
  ),
  retryFactor: setting('retry-factor', retry.factor, 'growth of that wait', decimal(...BOUNDS.retry.factor)),
  retryCapMs: setting('retry-cap-ms', retry.capMs, 'longest such wait', wholeNumber(...BOUNDS.retry.capMs)),
  retryJitter: setting(
    'retry-jitter',
    retry.jitter,
    'share of the wait that is random',
    decimal(...BOUNDS.retry.jitter),
  ),
  retryLimit: setting(
    'retry-limit',
    retry.limit ?? 'none',
    'failed attempts of an action before the saga turns around, or none',
    orWord('none', null, wholeNumber(...BOUNDS.retry.limit)),
  ),
  inFlightMax: wholeSetting('in-flight-max', 'inFlightMax', 'transactions held at once'),
  callsInFlightMax: wholeSetting('calls-in-flight-max', 'callsInFlightMax', 'branch calls at once'),
  targetShare: setting(
    'target-share',
    DEFAULT_SETTINGS.targetShare,
    'share of transactions and calls in flight that one target may hold; 1 lets one target that hangs stop all',
    decimal(...BOUNDS.targetShare),
  ),
  targetCallsPerSecond: setting(
    'target-calls-per-second',
    DEFAULT_SETTINGS.targetCallsPerSecond ?? 'off',
    'branch calls of this node to one target a second, or off; one more waits',
    orWord('off', null, wholeNumber(...BOUNDS.targetCallsPerSecond)),
  ),
  timeoutMsMax: wholeSetting(
    'timeout-ms-max',
    'timeoutMsMax',
    'longest timeoutMs that a request may ask for',
  ),
  retryFloorMs: wholeSetting(
    'retry-floor-ms',
    'retryFloorMs',
    'least wait after five failures of a call, growing with more, whatever its retry policy',
  ),
  parkAfterMs: setting(
    'park-after-ms',
    DEFAULT_SETTINGS.parkAfterMs,
    'a call that has failed for so long is parked with attention until it is retried by hand, or never',
    orWord('never', 'never' as const, wholeNumber(...BOUNDS.parkAfterMs)),
  ),
  waitersMax: wholeSetting('waiters-max', 'waitersMax', 'callers waiting for an end at once'),
  recoveryInFlightMax: wholeSetting(
    'recovery-in-flight-max',
    'recoveryInFlightMax',
    'transactions that recovery holds at once',
  ),
  claimLimit: wholeSetting('claim-limit', 'claimLimit', 'rows claimed at once'),
  hintsMax: wholeSetting('hints-max', 'hintsMax', 'future due instants remembered'),
  memoryAckMax: wholeSetting('memory-ack-max', 'memoryAckMax', 'submits with ack "memory" at once'),
  scansAtOnceMax: wholeSetting('scans-at-once-max', 'scansAtOnceMax', 'lists under way at once'),
  readsAtOnceMax: wholeSetting(
    'reads-at-once-max',
    'readsAtOnceMax',
    'single transactions read at once for those who only read',
  ),
  readsWaitingMax: wholeSetting(
    'reads-waiting-max',
    'readsWaitingMax',
    'lists, and single reads, that wait for their turn at once',
  ),
  readWaitMs: wholeSetting(
    'read-wait-ms',
    'readWaitMs',
    'how long a list or a read waits for its turn before it is refused (429)',
  ),
} as const

function wholeSetting(
  flag: string,
  name: Exclude<keyof EngineSettings, 'retentionMs' | 'retry' | 'targetCallsPerSecond' | 'parkAfterMs'>,
  help: string,
) {
  return setting(flag, DEFAULT_SETTINGS[name], help, wholeNumber(...BOUNDS[name]))
}
