import { hostnameOf, type Networks, networksOf } from '@counterstep/access'
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
  ratePerKey: setting(
    'rate-per-key',
    'off',
    'requests per second that one key may make on this node, or off',
    orWord('off', 'off' as const, wholeNumber(1, 1_000_000)),
  ),
  dtmNetworks: setting(
    'dtm-networks',
    '',
    "CIDR,… from where DTM's face asks for no key",
    orUnset(networkList),
  ),
  allowedHosts: setting(
    'allowed-hosts',
    '',
    'NAME,… that a Host header may have, and a page that calls; loopback always may',
    orUnset(hostList),
  ),
} as const

function networkList(text: string): Parsed<Networks> {
  const value = networksOf(itemsOf(text))
  return value === undefined ? { problem: 'must be networks such as 10.0.0.0/8,fd00::/8' } : { value }
}

function hostList(text: string): Parsed<readonly string[]> {
  const names = itemsOf(text).map(hostnameOf)
  const value = names.filter((name) => name !== undefined && name !== '')
  return value.length < names.length || value.length > NAMES_MAX
    ? { problem: `must be at most ${NAMES_MAX} host names, without a scheme` }
    : { value: value as readonly string[] }
}

function itemsOf(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim())
}
