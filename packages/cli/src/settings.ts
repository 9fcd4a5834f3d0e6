import { CLAIM_MAX } from '@counterstep/core'
import { DEFAULT_SETTINGS } from '@counterstep/engine'
import { CHECKPOINT_MS_MAX, RETRY_CAP_MS_MAX, RETRY_LIMIT_MAX, TIMEOUT_MS_MAX } from '@counterstep/protocol'
import { ACCESS_SETTINGS } from './access-settings.ts'
import { decimal, nonEmpty, oneOf, orUnset, orWord, type Parsed, setting, wholeNumber } from './setting.ts'
import { signingKeyPath } from './signing-key-file.ts'
import { STORE_SETTINGS } from './store-settings.ts'
import { TARGET_SETTINGS } from './target-settings.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const { retry } = DEFAULT_SETTINGS

/** Everything a user may set, in the order of the help text. */
export const SETTINGS = {
  host: setting('host', '127.0.0.1', 'address to listen on', nonEmpty),
  port: setting('port', 8470, 'port to listen on; 0 takes a free one', portNumber),
  dtmPort: setting(
    'dtm-port',
    36_789,
    "port of DTM's HTTP face, or off; off beside --port 0 unless given",
    orWord('off', 'off' as const, portNumber),
  ),
  ...TARGET_SETTINGS,
  ...ACCESS_SETTINGS,
  ...STORE_SETTINGS,
  signingKeyFile: setting(
    'signing-key-file',
    '',
    'file with the key that branch calls are signed with, from signing-key create; read again when it changes',
    orUnset(signingKeyPath),
  ),
  logLevel: setting(
    'log-level',
    'info',
    'error, warn, info, debug or silent',
    oneOf('error', 'warn', 'info', 'debug', 'silent'),
  ),
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

/** What `SETTINGS` parse to, under the same names. */
export type SettingValues = {
  readonly [Name in keyof typeof SETTINGS]: Extract<
    ReturnType<(typeof SETTINGS)[Name]['parse']>,
    { readonly value: unknown }
  >['value']
}

function bound(flag: string, fallback: number, help: string) {
  return setting(flag, fallback, help, wholeNumber(1, 10_000_000))
}

function portNumber(text: string): Parsed<number> {
  // Kubernetes sets NAME_PORT=tcp://… for a service called NAME, and so COUNTERSTEP_PORT for one called counterstep.
  if (text.startsWith('tcp://')) {
    return { problem: 'was set by Kubernetes for a service of this name; set enableServiceLinks: false' }
  }
  return wholeNumber(0, 65_535)(text)
}
