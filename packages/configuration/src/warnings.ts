import { hasEveryPort } from '@counterstep/branch-http/targets'
import { listRetentionWarnings } from '@counterstep/engine'
import { hasConsole } from './host-config.ts'
import { isForOthers, isLoopback } from './loopback.ts'
import type { Sources } from './read-settings.ts'
import type { FunctionRole } from './rules.ts'
import type { FunctionValues, SettingName, SettingValues } from './settings.ts'
import { asFlag, asVariable, type Spelling } from './spelling.ts'
import { type GivenPassword, PASSWORD_FILE_VARIABLE, PASSWORD_SECRET_VARIABLE } from './store-password.ts'

type SharedValues = Pick<SettingValues, SettingName & keyof FunctionValues>

/** Lists what is odd in the settings of `counterstep serve` but no reason to refuse them. */
export function listServerWarnings(values: SettingValues, sources: Sources): string[] {
  return [...listAccessWarnings(values), ...listSharedWarnings(values, sources, asFlag)]
}

/** Lists what is odd in the settings of a function but no reason to refuse them. */
export function listFunctionWarnings(
  role: FunctionRole,
  values: FunctionValues,
  sources: Sources,
  password: GivenPassword | undefined,
): string[] {
  const { keysSecret, authorizer, store, queueUrl, slowQueueUrl } = values
  const inUrl = store.family !== 'sqlite' && store.password !== undefined
  const source = inUrl ? sources.get('store') : password?.variable
  const warnings: string[] = []
  if (role === 'api' && keysSecret === undefined && authorizer === undefined)
    warnings.push(
      'COUNTERSTEP_INSECURE_NO_KEYS: anyone who reaches the function may submit, read, abort and stop transactions.',
    )
  if (role === 'api' && keysSecret !== undefined && authorizer !== undefined)
    warnings.push(
      `COUNTERSTEP_AUTHORIZER=${authorizer} beside COUNTERSTEP_KEYS_SECRET: a key stands in the Authorization ` +
        'header, so the authorizer must look for its own proof elsewhere.',
    )
  if (role !== 'sweeper' && queueUrl !== undefined && slowQueueUrl === undefined)
    warnings.push(
      'Without COUNTERSTEP_SLOW_QUEUE_URL and COUNTERSTEP_QUICK_CALL_MS one service that hangs may hold all functions.',
    )
  if (source !== undefined && source !== PASSWORD_FILE_VARIABLE)
    warnings.push(
      `The password in ${source} shows to whoever may look at the function; keep it in Secrets Manager, and ` +
        `name that secret by ${PASSWORD_SECRET_VARIABLE}.`,
    )
  return [...warnings, ...listSharedWarnings(values, sources, asVariable)]
}

function listAccessWarnings(values: SettingValues) {
  const { host, keysFile, dtmNetworks, dtmNetworksScopes, allowedHosts, alertsFile, signingKeyFile } = values
  const isBeyond = !isLoopback(host)
  const isOpen = isForOthers(values) && keysFile === undefined
  const name = isBeyond ? host : allowedHosts?.join(',')
  const warnings: string[] = []
  if (isOpen)
    warnings.push(
      `--insecure-no-keys: anyone who reaches ${name} may submit, read, abort and stop transactions.`,
    )
  if (isOpen && hasConsole(values))
    warnings.push(
      `--console on without keys: anyone who reaches ${name} opens the console and may do all that it can.`,
    )
  if (alertsFile !== undefined && signingKeyFile === undefined)
    warnings.push(
      '--alerts-file without --signing-key-file: alerts are not signed, so a receiver cannot tell who sent one.',
    )
  if (values.dtmGrpcPort !== 'off' && !values.acceptNewKinds)
    warnings.push(
      '--dtm-grpc-port without --accept-new-kinds: branches over gRPC are refused, because servers of the version before leave ' +
        'their transactions alone.',
    )
  const more = dtmNetworksScopes.filter((scope) => scope !== 'submit')
  if (dtmNetworks !== undefined && more.length > 0)
    warnings.push(
      `--dtm-networks-scopes: every host of --dtm-networks may do without a key what needs the scopes ${more.join(', ')}.`,
    )
  if (isBeyond && (isOpen || dtmNetworks !== undefined) && allowedHosts === undefined)
    warnings.push(
      `${isOpen ? '--insecure-no-keys' : '--dtm-networks'} without --allowed-hosts: any Host is taken, so a page ` +
        'whose name is pointed at this server (DNS rebinding) may call it without a key; name its own hosts.',
    )
  return warnings
}

function listSharedWarnings(values: SharedValues, sources: Sources, spell: Spelling): string[] {
  const warnings = [...listRetentionWarnings(values, spell('retentionMs'))]
  if (values.egressProxy !== undefined)
    warnings.push(
      `With ${spell('egressProxy')} the proxy looks up the names of branches: it has to refuse the ` +
        'addresses that must not be called, because this server does not see them.',
    )
  if (hasEveryPort(values.allowTargets))
    warnings.push(
      `${spell('allowTargets')} has a range of addresses with every port: whoever may submit has this server call ` +
        'whatever listens there.',
    )
  if (values.allowAnyTarget)
    warnings.push(
      `INSECURE ${spell('allowAnyTarget', 'true')}: whoever may submit has this server call any URL, ` +
        `inside your network too. List them by ${spell('services')} or ${spell('allowTargets')}.`,
    )
  const { store } = values
  if (store.family === 'sqlite') return warnings
  if (store.password !== undefined && sources.get('store') === '--store')
    warnings.push(
      'The password in --store shows in the list of processes at start; ' +
        'give it by COUNTERSTEP_STORE_PASSWORD or COUNTERSTEP_STORE_PASSWORD_FILE.',
    )
  if (values.storeAcceptClassC)
    warnings.push(
      `${sources.get('storeAcceptClassC')} is on: the server starts even on a store ` +
        'that may lose or evict what it acknowledged.',
    )
  if (values.storeTls === 'off' && !store.hosts.split(',').every(isLocal))
    warnings.push(
      `${sources.get('storeTls')} is off: the store's password and every payload travel in clear text.`,
    )
  return warnings
}

/** Takes a host with its port, and an IPv6 address in its brackets. */
function isLocal(host: string): boolean {
  return isLoopback(host.replace(/:\d{1,5}$/, '').replace(/^\[(.*)\]$/, '$1'))
}
