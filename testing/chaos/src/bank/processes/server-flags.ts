/** The servers of a run start with these: leases and waits are short, so that a run need not be long. */
export const LEASE_MS = 1_000
export const STORE_TIMEOUT_MS = 1_500

export const SERVER_FLAGS: Readonly<Record<string, string | number>> = {
  'dtm-port': 'off',
  'log-level': 'warn',
  'lease-ms': LEASE_MS,
  'poll-ms': 200,
  'hold-ms': 500,
  'checkpoint-ms': 200,
  'store-timeout-ms': STORE_TIMEOUT_MS,
  'branch-timeout-ms': 1_500,
  'retry-initial-ms': 50,
  'retry-cap-ms': 1_000,
}
