import { join, resolve } from 'node:path'
import type { ENGINE_SETTINGS } from './engine-settings.ts'
import type { ValuesOf } from './read-values.ts'
import type { GivenPassword } from './store-password.ts'
import { isRdsProxy } from './store-proxy.ts'
import type { STORE_SETTINGS } from './store-settings.ts'
import { placeOf, type ServerTarget, urlOf, withTlsScheme } from './store-target.ts'

/** Whose certificate is trusted; what is absent is as Node and the URL say. */
export interface TlsNames {
  readonly ca?: string
  readonly serverName?: string
}

/** Where a store on a server is. */
export interface StoreReach {
  readonly type: 'mysql' | 'redis'
  /** For people: without a password. */
  readonly place: string
  /** Absent: as the store thinks right. Redis says by its scheme whether, and here only by whose certificates. */
  readonly tls?: 'off' | 'required' | TlsNames
}

/** How it is used. */
export interface StoreUse {
  /** Absent: as the store finds it. */
  readonly failover?: 'none' | 'lossless' | 'lossy'
  readonly acceptClassC: boolean
  /** Of Redis only: of one that hides its settings. */
  readonly durability?: 'A' | 'B'
  /** Of Redis only. */
  readonly keyPrefix: string
  /** Of MySQL only. */
  readonly connectionsMax: number
  /** Of MySQL only: through a proxy that lends its connections. */
  readonly multiplexed: boolean
  readonly connectTimeoutMs: number
  /** Of one statement or command. */
  readonly timeoutMs: number
}

export interface Connection extends StoreReach {
  /** With the password. Never to be shown. */
  readonly url: string
  /** How long to wait at start for a server that does not answer yet. */
  readonly waitMs: number
}

export interface ServerStoreConfig extends Connection, StoreUse {}

export interface SqliteConfig {
  readonly type: 'sqlite'
  readonly path: string
  /** The same for people. */
  readonly place: string
  readonly synchronous: 'FULL' | 'NORMAL'
  /** With less room on its disk no new transaction is taken. */
  readonly freeBytesMin: number
  /** Nobody else starts it, so there is nothing to wait for. */
  readonly waitMs: 0
}

export type StoreConfig = SqliteConfig | ServerStoreConfig

export type StoreValues = ValuesOf<typeof STORE_SETTINGS>
type TlsValues = Pick<StoreValues, 'storeTls' | 'storeTlsCa' | 'storeTlsServerName'>
type UseValues = Pick<
  StoreValues,
  | 'storeFailover'
  | 'storeAcceptClassC'
  | 'storeDurability'
  | 'storeKeyPrefix'
  | 'storeConnectionsMax'
  | 'storeProxy'
  | 'storeConnectTimeoutMs'
> &
  Pick<ValuesOf<typeof ENGINE_SETTINGS>, 'storeTimeoutMs'>

export function storeConfig(
  values: StoreValues & UseValues,
  password: GivenPassword | undefined,
): StoreConfig {
  if (values.store.family === 'sqlite') {
    const path = resolve(values.store.path === '' ? join(values.data, 'counterstep.db') : values.store.path)
    const synchronous = values.synchronous === 'full' ? 'FULL' : 'NORMAL'
    const freeBytesMin = values.sqliteFreeBytesMin
    return Object.freeze({ type: 'sqlite', path, place: path, synchronous, freeBytesMin, waitMs: 0 })
  }
  return Object.freeze({ ...connection(values.store, values, password), ...storeUse(values.store, values) })
}

export function connection(
  target: ServerTarget,
  values: TlsValues & Pick<StoreValues, 'storeWaitMs'>,
  password: GivenPassword | undefined,
): Connection {
  const { target: reached, reach } = storeReach(target, values)
  const url = urlOf(reached, password?.text ?? target.password)
  return Object.freeze({ ...reach, url, waitMs: values.storeWaitMs })
}

/** With the target as its scheme must be for that. */
export function storeReach(
  named: ServerTarget,
  { storeTls, storeTlsCa: ca, storeTlsServerName: serverName }: TlsValues,
): { readonly target: ServerTarget; readonly reach: StoreReach } {
  const names = { ...(ca === undefined ? {} : { ca }), ...(serverName === undefined ? {} : { serverName }) }
  const tls = Object.keys(names).length === 0 ? storeTls : Object.freeze(names)
  const target = tls === undefined || tls === 'off' ? named : withTlsScheme(named)
  const reach = { type: target.family, place: placeOf(target), ...(tls === undefined ? {} : { tls }) }
  return { target, reach }
}

const CLASSES = { a: 'A', b: 'B' } as const

export function storeUse({ family, hosts }: ServerTarget, values: UseValues): StoreUse {
  const isProxy = values.storeProxy === 'on' || (values.storeProxy === 'auto' && isRdsProxy(hosts))
  return {
    ...(values.storeFailover === undefined ? {} : { failover: values.storeFailover }),
    acceptClassC: values.storeAcceptClassC,
    ...(values.storeDurability === undefined ? {} : { durability: CLASSES[values.storeDurability] }),
    keyPrefix: values.storeKeyPrefix,
    connectionsMax: values.storeConnectionsMax,
    multiplexed: family === 'mysql' && isProxy,
    connectTimeoutMs: values.storeConnectTimeoutMs,
    timeoutMs: values.storeTimeoutMs,
  }
}
