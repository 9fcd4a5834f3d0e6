import { ACCESS_SETTINGS } from './access-settings.ts'
import { ENGINE_SETTINGS } from './engine-settings.ts'
import type { ValuesOf } from './read-values.ts'
import { nonEmpty, oneOf, orUnset, orWord, type Parsed, setting, wholeNumber } from './setting.ts'
import { signingKeyPath } from './signing-key-file.ts'
import { STORE_SETTINGS } from './store-settings.ts'
import { TARGET_SETTINGS } from './target-settings.ts'

/** Everything that `counterstep serve` may be told, in the order of its help text. Other homes take their part of it. */
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
  ...ENGINE_SETTINGS,
} as const

export type SettingName = keyof typeof SETTINGS
export type SettingValues = ValuesOf<typeof SETTINGS>

function portNumber(text: string): Parsed<number> {
  // Kubernetes sets NAME_PORT=tcp://… for a service called NAME, and so COUNTERSTEP_PORT for one called counterstep.
  if (text.startsWith('tcp://')) {
    return { problem: 'was set by Kubernetes for a service of this name; set enableServiceLinks: false' }
  }
  return wholeNumber(0, 65_535)(text)
}
