import { join, resolve } from 'node:path'
import type { FunctionValues, SettingName, SettingValues } from './settings.ts'
import type { GivenPassword } from './store-password.ts'
import { buildStoreUrl, type ServerTarget, showTarget, withTlsScheme } from './store-target.ts'

export type SqliteConfig = ReturnType<typeof toSqliteConfig>
/** Says where a store on a server is, and how to reach it. */
export type Connection = ReturnType<typeof connection>
export type StoreUse = ReturnType<typeof storeUse>
export type ServerStoreConfig = Connection & StoreUse
export type StoreConfig = SqliteConfig | ServerStoreConfig
/** The URL of this store is made later by `storeUrl`, with the password from its secret. */
export type FunctionStoreConfig = ReturnType<typeof toFunctionStore>

type Password = GivenPassword | undefined
type SharedValues = Pick<SettingValues, SettingName & keyof FunctionValues>
type TlsValues = Pick<SettingValues, 'storeTls' | 'storeTlsCa' | 'storeTlsServerName'>

export function storeConfig(values: SettingValues, password: Password): StoreConfig {
  const { store } = values
  if (store.family === 'sqlite') return toSqliteConfig(store.path, values)
  return Object.freeze({ ...connection(store, values, password), ...storeUse(store, values) })
}

function toSqliteConfig(named: string, values: SettingValues) {
  const { data, sqliteSynchronous, sqliteFreeBytesMin: freeBytesMin } = values
  const path = resolve(named === '' ? join(data, 'counterstep.db') : named)
  const synchronous = sqliteSynchronous === 'full' ? 'FULL' : 'NORMAL'
  return Object.freeze({ type: 'sqlite', path, place: path, synchronous, freeBytesMin, waitMs: 0 })
}

/** `url` holds the password and must never be shown. `place` is for people. */
export function connection(
  named: ServerTarget,
  values: TlsValues & Pick<SettingValues, 'storeWaitMs'>,
  password: Password,
) {
  const { target, reach } = buildStoreReach(named, values)
  const url = buildStoreUrl(target, password?.text ?? named.password)
  return Object.freeze({ ...reach, url, waitMs: values.storeWaitMs })
}

/** `target` may hold a password and must never be shown. */
export function toFunctionStore(named: ServerTarget, values: SharedValues, password: Password) {
  const { target, reach } = buildStoreReach(named, values)
  const login = Object.freeze({ ...target, password: password?.text ?? target.password })
  return Object.freeze({ ...reach, ...storeUse(target, values), target: login })
}

/**
 * Makes the URL that opens the store, with the password of its secret, which is undefined if no secret is named. It
 * must never be shown.
 */
export function storeUrl({ target }: FunctionStoreConfig, password: string | undefined): string {
  return buildStoreUrl(target, password ?? target.password)
}

/** Gives the target the scheme that its TLS setting needs. If `tls` is absent, the store decides whether it uses TLS. */
function buildStoreReach(named: ServerTarget, { storeTls, storeTlsCa: ca, storeTlsServerName }: TlsValues) {
  const server = storeTlsServerName === undefined ? {} : { serverName: storeTlsServerName }
  const names: { readonly ca?: string; readonly serverName?: string } =
    ca === undefined ? server : { ca, ...server }
  const tls = Object.keys(names).length === 0 ? storeTls : Object.freeze(names)
  const target = tls === undefined || tls === 'off' ? named : withTlsScheme(named)
  const reach = { type: target.family, place: showTarget(target), ...(tls === undefined ? {} : { tls }) }
  return { target, reach }
}

const CLASSES = { a: 'A', b: 'B' } as const
/**
 * Matches the host of an RDS Proxy, NAME.proxy-ID.REGION, and of its further endpoints,
 * NAME.endpoint.proxy-ID.REGION.
 */
const RDS_PROXY = /\.proxy-[a-z0-9]+\.[a-z0-9-]+\.rds\.amazonaws\.com(\.cn)?(:\d{1,5})?$/i

function storeUse({ family, hosts }: ServerTarget, values: SharedValues) {
  const { storeFailover: failover, storeDurability: durability, storeProxy } = values
  const isProxy = storeProxy === 'on' || (storeProxy === 'auto' && RDS_PROXY.test(hosts))
  return {
    /** If it is absent, the store finds it out. */
    ...(failover === undefined ? {} : { failover }),
    acceptClassC: values.storeAcceptClassC,
    ...(durability === undefined ? {} : { durability: CLASSES[durability] }),
    keyPrefix: values.storeKeyPrefix,
    connectionsMax: values.storeConnectionsMax,
    /** It is true if the store is reached through a proxy that lends its connections. */
    multiplexed: family !== 'redis' && isProxy,
    connectTimeoutMs: values.storeConnectTimeoutMs,
    /** It bounds one statement or command. */
    timeoutMs: values.storeTimeoutMs,
  }
}
