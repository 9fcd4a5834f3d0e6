import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import type { SettingName } from './commands.ts'
import { isLoopback } from './loopback.ts'
import { SETTINGS, type SettingValues } from './settings.ts'
import type { GivenPassword } from './store-password.ts'
import {
  isTlsScheme,
  placeOf,
  type ServerTarget,
  type StoreTarget,
  urlOf,
  withTlsScheme,
} from './store-target.ts'

/** Whose certificate is trusted; what is absent is as Node and the URL say. */
export interface TlsNames {
  readonly ca?: string
  readonly serverName?: string
}

/** Where the store is, and how it is reached. */
export interface Connection {
  readonly type: 'mysql' | 'redis'
  /** With the password. Never to be shown. */
  readonly url: string
  /** The same for people: without a password. */
  readonly place: string
  /** Absent: as the store thinks right. Redis says by its scheme whether, and here only by whose certificates. */
  readonly tls?: 'off' | 'required' | TlsNames
  /** How long to wait at start for a server that does not answer yet. */
  readonly waitMs: number
}

export interface ServerStoreConfig extends Connection {
  /** Absent: as the store finds it. */
  readonly failover?: 'none' | 'lossless' | 'lossy'
  readonly acceptClassC: boolean
  /** Of Redis only. */
  readonly keyPrefix: string
  /** Of MySQL only. */
  readonly connectionsMax: number
  readonly connectTimeoutMs: number
  /** Of one statement or command. */
  readonly timeoutMs: number
}

export interface SqliteConfig {
  readonly type: 'sqlite'
  readonly path: string
  /** The same for people. */
  readonly place: string
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Nobody else starts it, so there is nothing to wait for. */
  readonly waitMs: 0
}

export type StoreConfig = SqliteConfig | ServerStoreConfig

/** From where each setting came that the user has set: a flag with its dashes, or a variable. */
export type Sources = ReadonlyMap<SettingName, string>

type Password = GivenPassword | undefined

export function storeConfig(values: SettingValues, password: Password): StoreConfig {
  if (values.store.family === 'sqlite') {
    const path = resolve(values.store.path === '' ? join(values.data, 'counterstep.db') : values.store.path)
    const synchronous = values.synchronous === 'full' ? 'FULL' : 'NORMAL'
    return Object.freeze({ type: 'sqlite', path, place: path, synchronous, waitMs: 0 })
  }
  return Object.freeze({
    ...connection(values.store, values, password),
    ...(values.storeFailover === undefined ? {} : { failover: values.storeFailover }),
    acceptClassC: values.storeAcceptClassC,
    keyPrefix: values.storeKeyPrefix,
    connectionsMax: values.storeConnectionsMax,
    connectTimeoutMs: values.storeConnectTimeoutMs,
    timeoutMs: values.storeTimeoutMs,
  })
}

export function connection(
  target: ServerTarget,
  values: Pick<SettingValues, 'storeTls' | 'storeTlsCa' | 'storeTlsServerName' | 'storeWaitMs'>,
  password: Password,
): Connection {
  const { storeTlsCa: ca, storeTlsServerName: serverName, storeWaitMs: waitMs } = values
  const names = { ...(ca === undefined ? {} : { ca }), ...(serverName === undefined ? {} : { serverName }) }
  const tls = Object.keys(names).length === 0 ? values.storeTls : Object.freeze(names)
  const reached = tls === undefined || tls === 'off' ? target : withTlsScheme(target)
  return Object.freeze({
    type: target.family,
    url: urlOf(reached, password?.text ?? target.password),
    place: placeOf(reached),
    ...(tls === undefined ? {} : { tls }),
    waitMs,
  })
}

/** Whether it was opened by a force switch, which /health/ready shows. */
export function isForced(config: StoreConfig): boolean {
  return config.type !== 'sqlite' && config.acceptClassC
}

/** What is wrong between the store and what was set for it. */
export function storeProblems(
  values: Partial<SettingValues>,
  sources: Sources,
  password: Password,
): readonly string[] {
  const { store } = values
  if (store === undefined) return []
  return [
    ...settingsInVain(store, sources),
    ...passwordProblems(store, sources, password),
    ...(store.family === 'sqlite' ? [] : tlsProblems(store, values, sources)),
  ]
}

export function storeWarnings(values: SettingValues, sources: Sources): readonly string[] {
  const { store } = values
  if (store.family === 'sqlite') return []
  const warnings: string[] = []
  if (store.password !== undefined && sources.get('store') === '--store') {
    warnings.push(
      'The password in --store shows in the list of processes at start; ' +
        'give it by COUNTERSTEP_STORE_PASSWORD or COUNTERSTEP_STORE_PASSWORD_FILE.',
    )
  }
  if (values.storeAcceptClassC) {
    warnings.push(
      `${sources.get('storeAcceptClassC')} is on: the server starts even on a store ` +
        'that may lose or evict what it acknowledged.',
    )
  }
  if (values.storeTls === 'off' && !store.hosts.split(',').every(isLocal)) {
    warnings.push(
      `${sources.get('storeTls')} is off: the store's password and every payload travel in clear text.`,
    )
  }
  return warnings
}

/** With its port, and an IPv6 address in brackets. */
function isLocal(host: string): boolean {
  return isLoopback(host.replace(/:\d{1,5}$/, '').replace(/^\[(.*)\]$/, '$1'))
}

function settingsInVain(store: StoreTarget, sources: Sources): string[] {
  return [...sources].flatMap(([name, source]) => {
    const { stores } = SETTINGS[name]
    if (stores === undefined || stores.includes(store.family)) return []
    return [`${source} is for ${stores.join(' and ')}, and the store is ${store.family}.`]
  })
}

function passwordProblems(store: StoreTarget, sources: Sources, password: Password): string[] {
  const source = sources.get('store')
  if (store.family === 'sqlite') {
    return password === undefined ? [] : [`${password.variable} is set, and a sqlite store has no password.`]
  }
  if (password !== undefined && store.password !== undefined) {
    return [`${source} has a password, and ${password.variable} is set, too; give one.`]
  }
  // Else a password in the wrong place, redis://SECRET@host, would be shown as the user that it was taken for.
  if (
    store.family === 'redis' &&
    store.user !== '' &&
    password === undefined &&
    store.password === undefined
  ) {
    return [`${source} names a user without a password; a password alone is written redis://:PASSWORD@HOST.`]
  }
  return []
}

function tlsProblems(store: ServerTarget, values: Partial<SettingValues>, sources: Sources): string[] {
  if (values.storeTls !== 'off') return namelessProblems(store, values, sources)
  const inVain = (['storeTlsCa', 'storeTlsServerName'] as const).filter((name) => values[name] !== undefined)
  const contradictions = [
    ...(isTlsScheme(store.scheme) ? [`${store.scheme}:// means TLS`] : []),
    ...inVain.map((name) => `${sources.get(name)} is set`),
  ]
  return contradictions.map((contradiction) => `${sources.get('storeTls')} is off, and ${contradiction}.`)
}

/** The MySQL driver checks a certificate against a name only. */
function namelessProblems(store: ServerTarget, values: Partial<SettingValues>, sources: Sources): string[] {
  if (store.family !== 'mysql' || values.storeTlsServerName !== undefined) return []
  const host = new URL(urlOf(store, undefined)).hostname.replace(/^\[(.*)\]$/, '$1')
  const wantsTls = values.storeTls === 'required' || values.storeTlsCa !== undefined || !isLoopback(host)
  if (isIP(host) === 0 || !wantsTls) return []
  return [
    `${sources.get('store')} has an address, and the certificate is checked against a name: ` +
      'give --store-tls-server-name, or a URL with a name, or --store-tls off.',
  ]
}
