import type { Command } from './recording-proxy.ts'

// The page "Avoiding pinning an RDS Proxy" of AWS says which commands pin a connection to one client.

const QUIT = 1
const QUERY = 3
const PING = 14
const STATEMENT_BYTES_MAX = 16 * 1024

/** Variables that the proxy tracks, so that it can lend another connection with the same values. */
const TRACKED =
  'AUTOCOMMIT|AUTO_INCREMENT_INCREMENT|CHARACTER_SET_(?:CLIENT|CONNECTION|DATABASE|FILESYSTEM|RESULTS|SERVER)|' +
  'COLLATION_(?:CONNECTION|DATABASE|SERVER)|INTERACTIVE_TIMEOUT|NET_WRITE_TIMEOUT|QUERY_CACHE_TYPE|SESSION_TRACK_SCHEMA|' +
  'SQL_MODE|TIME_ZONE|TRANSACTION_ISOLATION|TX_ISOLATION|TRANSACTION_READ_ONLY|TX_READ_ONLY|WAIT_TIMEOUT'
/** Matches one such variable that is set to a constant. The page does not say whether the proxy understands more. */
const TRACKED_SET = new RegExp(
  `^SET (?:NAMES \\w+|(?:SESSION )?(?:${TRACKED}) = (?:''|\\d+)|SESSION TRANSACTION ISOLATION LEVEL [A-Z ]+)$`,
  'i',
)

const PINNING: readonly (readonly [reason: string, pattern: RegExp])[] = [
  ['a user variable', /(?<!@)@(?!@)/],
  ['a named lock', /\b(?:GET|RELEASE|IS_FREE|IS_USED)(?:_ALL)?_LOCKS?\s*\(/i],
  [
    'a function of the statement before',
    /\b(?:ROW_COUNT|FOUND_ROWS|LAST_INSERT_ID)\s*\(|SQL_CALC_FOUND_ROWS/i,
  ],
  ['a temporary table', /\bCREATE\s+(?:OR\s+REPLACE\s+)?TEMPORARY\b/i],
  ['locked tables', /\b(?:UN)?LOCK\s+TABLES?\b|\bFLUSH\s+TABLES\b/i],
  ['a prepared statement', /^\s*(?:PREPARE|EXECUTE|DEALLOCATE|DROP\s+PREPARE)\b/i],
  ['an executable comment', /\/\*M?!/i],
  ['several statements', /;/],
  ['a handler', /^\s*HANDLER\b/i],
]

/** Returns the reason why this command pins, or undefined if it does not. It ignores the texts in the command. */
export function findPinning({ code, text }: Command): string | undefined {
  if (code === QUIT || code === PING) return undefined
  if (code !== QUERY) return `the command ${code} of the protocol`
  if (Buffer.byteLength(text) > STATEMENT_BYTES_MAX) return 'its length'
  const bare = withoutLiterals(text)
  const found = PINNING.find(([, pattern]) => pattern.test(bare))
  if (found !== undefined) return found[0]
  if (/^\s*SET\b/i.test(bare) && !TRACKED_SET.test(bare)) return 'a variable that is not tracked'
  return undefined
}

/** Replaces each text by an empty one. */
export function withoutLiterals(text: string): string {
  return text.replace(/'(?:[^'\\]|''|\\.)*'/gs, "''")
}
