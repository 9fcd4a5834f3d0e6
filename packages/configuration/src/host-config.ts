import type { QuotaBounds } from '@counterstep/access'
import { DEFAULT_CALLER_LIMITS } from '@counterstep/branch-http'
import type { TargetRules } from '@counterstep/branch-http/targets'
import { DEFAULT_SETTINGS } from '@counterstep/engine'
import type { AlertsConfig } from './alerts/alerts-file.ts'
import { isForOthers, isLoopback } from './loopback.ts'
import type { FunctionValues, SettingName, SettingValues } from './settings.ts'
import type { SqliteConfig, StoreUse } from './store-config.ts'

type SharedValues = Pick<SettingValues, SettingName & keyof FunctionValues>

export type AccessConfig = ReturnType<typeof pickAccessConfig>

/** Says who may use a server, over both HTTP APIs. */
export function pickAccessConfig(values: SettingValues) {
  const { host, keysFile, ratePerKey, dtmNetworks, dtmNetworksScopes, allowedHosts = [] } = values
  const { connectionsMax, strangersPerAddressMax, unreadBodyBytesMax } = values
  return Object.freeze({
    keysFile,
    ratePerKey,
    quotaPerKey: readQuota(values),
    /** DTM's API asks callers from these networks for no key, and gives them the scopes below. */
    dtmNetworks,
    dtmNetworksScopes,
    allowedHosts,
    isLoopback: isLoopback(host),
    bounds: Object.freeze({ connectionsMax, strangersPerAddressMax, unreadBodyBytesMax }),
    /** Names the protections that are switched off; /health/ready shows them. */
    insecure: Object.freeze(keysFile === undefined && isForOthers(values) ? ['no-keys'] : []),
  })
}

/**
 * Tells whether the console is served. Where others come it is the page of people who are not here, so it needs keys that
 * they log in with, unless it is named.
 */
export function hasConsole(values: SettingValues): boolean {
  const { console, keysFile } = values
  return console === 'auto' ? !isForOthers(values) || keysFile !== undefined : console === 'on'
}

/** Says who may use a function. */
export function pickFunctionAccess({
  keysSecret,
  authorizer,
  ratePerKey,
  allowedHosts = [],
}: FunctionValues) {
  const isOpen = keysSecret === undefined && authorizer === undefined
  const insecure = Object.freeze(isOpen ? ['no-keys'] : [])
  return Object.freeze({ authorizer, ratePerKey, allowedHosts, insecure })
}

/**
 * If only this machine reaches the server and no targets are set, this is development, and its branches are on this
 * machine. A server with a list may be behind a proxy on the same machine.
 */
export function chooseTargetRules(
  { services, allowTargets, allowAnyTarget }: SharedValues,
  isLoopbackBind: boolean,
): TargetRules {
  const isLocal = isLoopbackBind && services.length === 0 && allowTargets.length === 0
  const others = allowAnyTarget ? 'any' : isLocal ? 'loopback' : 'none'
  return Object.freeze({ services, allowed: allowTargets, others, isLocal })
}

/** Adds the services that alerts are sent to. No request may name them, so they do not say where branches may be called. */
export function addAlertServices(rules: TargetRules, alerts: AlertsConfig | undefined): TargetRules {
  if (alerts === undefined) return rules
  const services = alerts.targets.map(({ service }) => service)
  return Object.freeze({ ...rules, services: [...rules.services, ...services] })
}

export function pickCallerOptions(values: SharedValues) {
  const { egressProxy: proxyUrl, answerExcerpts } = values
  return Object.freeze({ proxyUrl, answerExcerpts, ...pickNames(values, DEFAULT_CALLER_LIMITS) })
}

/** Picks the settings of the engine from the values of a host. */
export function pickEngineSettings<Values extends SharedValues>(values: Values) {
  const retry = Object.freeze({
    initialMs: values.retryInitialMs,
    factor: values.retryFactor,
    capMs: values.retryCapMs,
    jitter: values.retryJitter,
    limit: values.retryLimit,
  })
  return Object.freeze({ ...pickNames(values, DEFAULT_SETTINGS), retry })
}

interface Protections {
  readonly access: { readonly insecure: readonly string[] }
  readonly targets: Pick<TargetRules, 'others'>
  readonly store: SqliteConfig | StoreUse
}

/** Names the protections that are switched off, as /health/ready shows them. */
export function listInsecureSwitches({ access, targets, store }: Protections): readonly string[] {
  return [
    ...access.insecure,
    ...(targets.others === 'any' ? ['allow-any-target'] : []),
    ...(isForced(store) ? ['store-accept-class-c'] : []),
  ]
}

/** Tells whether the store is opened although it may lose what it acknowledged. */
export function isForced(store: Protections['store']): boolean {
  return 'acceptClassC' in store && store.acceptClassC
}

function readQuota({
  dailySubmitsPerKey: submitsMax,
  dailyBytesPerKey: bytesMax,
}: SettingValues): QuotaBounds | undefined {
  if (submitsMax === undefined && bytesMax === undefined) return undefined
  return Object.freeze({
    ...(submitsMax === undefined ? {} : { submitsMax }),
    ...(bytesMax === undefined ? {} : { bytesMax }),
  })
}

/** Picks the values whose names are properties of another object. */
function pickNames<Values extends object, Named extends object>(values: Values, named: Named) {
  const own = Object.entries(values).filter(([name]) => name in named)
  return Object.fromEntries(own) as Pick<Values, keyof Values & keyof Named>
}
