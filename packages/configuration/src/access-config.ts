import type { ConnectionBoundLimits, Networks, QuotaBounds, Scope } from '@counterstep/access'
import { isLoopback } from './loopback.ts'
import type { SettingValues } from './settings.ts'

export interface AccessConfig {
  readonly keysFile: string | undefined
  readonly ratePerKey: number | undefined
  /** One key may have so much stored in a day; undefined: any amount. */
  readonly quotaPerKey: QuotaBounds | undefined
  /** From where DTM's face asks for no key. */
  readonly dtmNetworks: Networks | undefined
  /** The scopes that a caller from `dtmNetworks` has without a key. */
  readonly dtmNetworksScopes: readonly Scope[]
  readonly allowedHosts: readonly string[]
  readonly isLoopback: boolean
  /** On callers' connections, over both HTTP APIs. */
  readonly bounds: Pick<
    ConnectionBoundLimits,
    'connectionsMax' | 'strangersPerAddressMax' | 'unreadBodyBytesMax'
  >
  /** Protections that are switched off by name, for /health/ready. */
  readonly insecure: readonly string[]
}

type AccessValues = Pick<
  SettingValues,
  | 'host'
  | 'keysFile'
  | 'insecureNoKeys'
  | 'ratePerKey'
  | 'dailySubmitsPerKey'
  | 'dailyBytesPerKey'
  | 'dtmNetworks'
  | 'dtmNetworksScopes'
  | 'allowedHosts'
  | 'connectionsMax'
  | 'strangersPerAddressMax'
  | 'unreadBodyBytesMax'
>

export function accessConfig(values: AccessValues): AccessConfig {
  const { host, keysFile, ratePerKey, dtmNetworks, dtmNetworksScopes, allowedHosts = [] } = values
  const { connectionsMax, strangersPerAddressMax, unreadBodyBytesMax } = values
  return Object.freeze({
    keysFile,
    ratePerKey: ratePerKey === 'off' ? undefined : ratePerKey,
    quotaPerKey: readQuota(values),
    dtmNetworks,
    dtmNetworksScopes,
    allowedHosts,
    isLoopback: isLoopback(host),
    bounds: Object.freeze({ connectionsMax, strangersPerAddressMax, unreadBodyBytesMax }),
    insecure: Object.freeze(isOpenToAll(values) ? ['no-keys'] : []),
  })
}

function readQuota({ dailySubmitsPerKey, dailyBytesPerKey }: AccessValues): QuotaBounds | undefined {
  if (dailySubmitsPerKey === 'off' && dailyBytesPerKey === 'off') return undefined
  return Object.freeze({
    ...(dailySubmitsPerKey === 'off' ? {} : { submitsMax: dailySubmitsPerKey }),
    ...(dailyBytesPerKey === 'off' ? {} : { bytesMax: dailyBytesPerKey }),
  })
}

export function accessProblems(values: Partial<AccessValues>): string[] {
  const { host, keysFile, insecureNoKeys, ratePerKey, dailySubmitsPerKey, dailyBytesPerKey } = values
  const { dtmNetworks, dtmNetworksScopes } = values
  const problems: string[] = []
  const hasKeys = keysFile !== undefined
  if (host !== undefined && !isLoopback(host) && !hasKeys && insecureNoKeys === false) {
    problems.push(
      `--host ${host} is reached by others, and there are no keys: make one by ` +
        'counterstep keys create --keys-file FILE --name NAME --scopes submit,read and serve with ' +
        '--keys-file FILE; or say --insecure-no-keys, if nobody else can get there.',
    )
  }
  if (hasKeys && insecureNoKeys === true) problems.push('--insecure-no-keys contradicts --keys-file.')
  // In vain they would be a misunderstanding: who sets them believes to have keys.
  if (!hasKeys && dtmNetworks !== undefined) problems.push('--dtm-networks is of use only with --keys-file.')
  // One that is set, but wrong, is a problem already.
  const hasNoNetworks = 'dtmNetworks' in values && dtmNetworks === undefined
  if (hasNoNetworks && dtmNetworksScopes !== undefined && dtmNetworksScopes.join() !== 'submit')
    problems.push('--dtm-networks-scopes is of use only with --dtm-networks.')
  if (!hasKeys && typeof ratePerKey === 'number')
    problems.push('--rate-per-key is of use only with --keys-file.')
  if (!hasKeys && typeof dailySubmitsPerKey === 'number')
    problems.push('--daily-submits-per-key is of use only with --keys-file.')
  if (!hasKeys && typeof dailyBytesPerKey === 'number')
    problems.push('--daily-bytes-per-key is of use only with --keys-file.')
  return problems
}

export function accessWarnings(values: AccessValues): string[] {
  const { host, dtmNetworks, dtmNetworksScopes, allowedHosts = [] } = values
  const isOpen = isOpenToAll(values)
  const warnings: string[] = []
  if (isOpen) {
    warnings.push(
      `--insecure-no-keys: anyone who reaches ${host} may submit, read, abort and stop transactions.`,
    )
  }
  const more = dtmNetworksScopes.filter((scope) => scope !== 'submit')
  if (dtmNetworks !== undefined && more.length > 0) {
    warnings.push(
      `--dtm-networks-scopes: every host of --dtm-networks may do without a key what needs the scopes ${more.join(', ')}.`,
    )
  }
  if ((isOpen || dtmNetworks !== undefined) && !isLoopback(host) && allowedHosts.length === 0) {
    warnings.push(
      `${isOpen ? '--insecure-no-keys' : '--dtm-networks'} without --allowed-hosts: any Host is taken, so a page ` +
        'whose name is pointed at this server (DNS rebinding) may call it without a key; name its own hosts.',
    )
  }
  return warnings
}

function isOpenToAll({ host, keysFile }: AccessValues): boolean {
  return keysFile === undefined && !isLoopback(host)
}
