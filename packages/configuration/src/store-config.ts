import { join, resolve } from 'node:path'
import type { FunctionValues, SettingName, SettingValues } from './settings.ts'
import type { GivenPassword } from './store-password.ts'
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

/** A server's, but for its URL: the password comes later, from where secrets are kept. */
export interface FunctionStoreConfig extends StoreReach, StoreUse {
  /** May hold a password. Never to be shown. */
  readonly target: ServerTarget
}

type Password = GivenPassword | undefined
type SharedValues = Pick<SettingValues, SettingName & keyof FunctionValues>
type TlsValues = Pick<SettingValues, 'storeTls' | 'storeTlsCa' | 'storeTlsServerName'>

export function storeConfig(values: SettingValues, password: Password): StoreConfig {
  const { store, data, sqliteSynchronous, sqliteFreeBytesMin: freeBytesMin } = values
  if (store.family === 'sqlite') {
    const path = resolve(store.path === '' ? join(data, 'counterstep.db') : store.path)
    const synchronous = sqliteSynchronous === 'full' ? 'FULL' : 'NORMAL'
    return Object.freeze({ type: 'sqlite', path, place: path, synchronous, freeBytesMin, waitMs: 0 })
  }
  return Object.freeze({ ...connection(store, values, password), ...storeUse(store, values) })
}

export function connection(
  named: ServerTarget,
  values: TlsValues & Pick<SettingValues, 'storeWaitMs'>,
  password: Password,
): Connection {
  const { target, reach } = storeReach(named, values)
  const url = urlOf(target, password?.text ?? named.password)
  return Object.freeze({ ...reach, url, waitMs: values.storeWaitMs })
}

export function functionStore(
  named: ServerTarget,
  values: SharedValues,
  password: Password,
): FunctionStoreConfig {
  const { target, reach } = storeReach(named, values)
  const login = Object.freeze({ ...target, password: password?.text ?? target.password })
  return Object.freeze({ ...reach, ...storeUse(target, values), target: login })
}

/** The URL to open it by, with what its secret holds; undefined where no secret is named. Never to be shown. */
export function storeUrl({ target }: FunctionStoreConfig, password: string | undefined): string {
  return urlOf(target, password ?? target.password)
}

/** With the target as its scheme must be for that. */
function storeReach(
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
/** The host of an RDS Proxy: NAME.proxy-ID.REGION, and of its further endpoints NAME.endpoint.proxy-ID.REGION. */
const RDS_PROXY = /\.proxy-[a-z0-9]+\.[a-z0-9-]+\.rds\.amazonaws\.com(\.cn)?(:\d{1,5})?$/i

function storeUse({ family, hosts }: ServerTarget, values: SharedValues): StoreUse {
  const { storeFailover: failover, storeDurability: durability, storeProxy } = values
  const isProxy = storeProxy === 'on' || (storeProxy === 'auto' && RDS_PROXY.test(hosts))
  return {
    ...(failover === undefined ? {} : { failover }),
    acceptClassC: values.storeAcceptClassC,
    ...(durability === undefined ? {} : { durability: CLASSES[durability] }),
    keyPrefix: values.storeKeyPrefix,
    connectionsMax: values.storeConnectionsMax,
    multiplexed: family === 'mysql' && isProxy,
    connectTimeoutMs: values.storeConnectTimeoutMs,
    timeoutMs: values.storeTimeoutMs,
  }
}
