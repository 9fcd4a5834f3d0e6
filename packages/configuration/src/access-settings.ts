import {
  DEFAULT_CONNECTION_LIMITS,
  hostnameOf,
  isScope,
  type Networks,
  networksOf,
  type Scope,
} from '@counterstep/access'
import { BODY_BYTES_MAX } from '@counterstep/protocol'
import { orUnset, orWord, type Parsed, setting, switchSetting, wholeNumber } from './setting.ts'

const NAMES_MAX = 64

/** Who may use the server. */
export const ACCESS_SETTINGS = {
  keysFile: setting(
    'keys-file',
    '',
    'file of API keys, made by counterstep keys; every request needs one then',
    orUnset((text): Parsed<string> => ({ value: text })),
  ),
  insecureNoKeys: switchSetting(
    'insecure-no-keys',
    'listen beyond loopback without keys; anybody may do anything',
  ),
  plainIds: switchSetting(
    'plain-ids',
    'refuse gids with capital letters and branch ids with a -, which barriers of DTM in services may take for others',
  ),
  ratePerKey: setting(
    'rate-per-key',
    'off',
    'requests per second that one key may make on this node, or off',
    orWord('off', 'off' as const, wholeNumber(1, 1_000_000)),
  ),
  dailySubmitsPerKey: setting(
    'daily-submits-per-key',
    'off',
    'new transactions that one key may ask this node for in a day (UTC), or off',
    orWord('off', 'off' as const, wholeNumber(1, 1_000_000_000)),
  ),
  dailyBytesPerKey: setting(
    'daily-bytes-per-key',
    'off',
    'bytes that one key may have this node store in a day (UTC), or off',
    orWord('off', 'off' as const, wholeNumber(1, 1_000_000_000_000)),
  ),
  dtmNetworks: setting(
    'dtm-networks',
    '',
    "CIDR,… from where DTM's face asks for no key, for what --dtm-networks-scopes allow",
    orUnset(networkList),
  ),
  dtmNetworksScopes: setting(
    'dtm-networks-scopes',
    'submit',
    'what --dtm-networks may do without a key: submit, read, admin',
    scopeList,
  ),
  allowedHosts: setting(
    'allowed-hosts',
    '',
    'NAME,… that a Host header may have, and a page that calls; loopback always may',
    orUnset(hostList),
  ),
  connectionsMax: setting(
    'connections-max',
    DEFAULT_CONNECTION_LIMITS.connectionsMax,
    'connections of callers at once, and never more than half of the descriptors that the process may open',
    wholeNumber(16, 1_000_000),
  ),
  strangersPerAddressMax: setting(
    'strangers-per-address-max',
    DEFAULT_CONNECTION_LIMITS.strangersPerAddressMax,
    'connections of one address at once that have not yet shown a good key',
    wholeNumber(1, 1_000_000),
  ),
  unreadBodyBytesMax: setting(
    'unread-body-bytes-max',
    DEFAULT_CONNECTION_LIMITS.unreadBodyBytesMax,
    'bytes that are held at once, in all: of request bodies until each is whole, and of large answers until each is read',
    wholeNumber(BODY_BYTES_MAX, 2 ** 40),
  ),
} as const

function scopeList(text: string): Parsed<readonly Scope[]> {
  const value = itemsOf(text)
  return value.every(isScope) ? { value } : { problem: 'must be scopes such as submit,read' }
}

function networkList(text: string): Parsed<Networks> {
  const value = networksOf(itemsOf(text))
  return value === undefined ? { problem: 'must be networks such as 10.0.0.0/8,fd00::/8' } : { value }
}

function hostList(text: string): Parsed<readonly string[]> {
  const value = itemsOf(text)
  return value.length > NAMES_MAX || !value.every(isHost)
    ? { problem: `must be at most ${NAMES_MAX} host names, without a scheme` }
    : { value }
}

/** Letters, digits and signs of names, or an address: there is no pattern that fits several. */
function isHost(name: string): boolean {
  return /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(hostnameOf(name) ?? '')
}

function itemsOf(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim())
}
