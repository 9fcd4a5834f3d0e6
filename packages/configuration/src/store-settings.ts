import { isIP } from 'node:net'
import { readNamedFile } from './named-file.ts'
import {
  forStores,
  nonEmpty,
  oneOf,
  orUnset,
  type Parsed,
  setting,
  switchSetting,
  wholeNumber,
} from './setting.ts'
import { parseStore } from './store-target.ts'

const SERVERS = ['mysql', 'redis'] as const

/** Where and how transactions are kept, in the order of the help text. */
export const STORE_SETTINGS = {
  data: forStores(['sqlite'], setting('data', '.data', 'folder of the embedded store', nonEmpty)),
  store: setting(
    'store',
    '',
    'sqlite:PATH, a path, or a URL as below; default counterstep.db in the data folder',
    parseStore,
  ),
  synchronous: forStores(
    ['sqlite'],
    setting(
      'sqlite-synchronous',
      'full',
      'full: an acknowledged write survives power loss; normal: up to 2 s may be lost',
      oneOf('full', 'normal'),
    ),
  ),
  sqliteFreeBytesMin: forStores(
    ['sqlite'],
    setting(
      'sqlite-free-bytes-min',
      268_435_456,
      'with less room on its disk no new transaction is taken; 0 turns that off',
      wholeNumber(0, 1_000_000_000_000),
    ),
  ),
  storeTls: forStores(
    SERVERS,
    setting(
      'store-tls',
      '',
      'off, or required: only through TLS, to a server whose certificate holds; ' +
        'default: mysql required beyond loopback, redis as its scheme says',
      orUnset(oneOf('off', 'required')),
    ),
  ),
  storeTlsCa: forStores(
    SERVERS,
    setting(
      'store-tls-ca',
      '',
      'file with the certificates (PEM) that the store’s is signed by',
      orUnset(pemFile),
    ),
  ),
  storeTlsServerName: forStores(
    SERVERS,
    setting(
      'store-tls-server-name',
      '',
      'name that the store’s certificate must bear; needed where the URL has an address',
      orUnset(dnsName),
    ),
  ),
  storeFailover: forStores(
    SERVERS,
    setting(
      'store-failover',
      '',
      'what a failover of the database may lose: none (there is none), lossless or lossy; ' +
        'default: mysql lossy, since it hides its replicas, redis as it is found',
      orUnset(oneOf('none', 'lossless', 'lossy')),
    ),
  ),
  storeAcceptClassC: forStores(
    SERVERS,
    switchSetting(
      'store-accept-class-c',
      'start though the database may lose what it acknowledged, or evict it; shown in /health/ready',
    ),
  ),
  storeDurability: forStores(
    ['redis'],
    setting(
      'store-durability',
      '',
      'class of a Redis that hides its settings: a, each write is flushed, or b, each second; what can be read counts more',
      orUnset(oneOf('a', 'b')),
    ),
  ),
  storeKeyPrefix: forStores(
    ['redis'],
    setting(
      'store-key-prefix',
      'counterstep',
      'stands before every key, for several stores in one Redis',
      keyPrefix,
    ),
  ),
  storeConnectionsMax: forStores(
    ['mysql'],
    setting('store-connections-max', 10, 'connections to the store at once', wholeNumber(2, 1_000)),
  ),
  storeProxy: forStores(
    ['mysql'],
    setting(
      'store-proxy',
      'auto',
      'on: a proxy lends the database’s connections, and no statement may pin one; auto: where the host is an RDS Proxy',
      oneOf('auto', 'on', 'off'),
    ),
  ),
  storeConnectTimeoutMs: forStores(
    SERVERS,
    setting('store-connect-timeout-ms', 2_000, 'limit of one attempt to connect', wholeNumber(100, 600_000)),
  ),
  storeWaitMs: forStores(
    SERVERS,
    setting(
      'store-wait-ms',
      30_000,
      'how long to wait at start for a store that does not answer yet; one that refuses the login: 3 s at most',
      wholeNumber(0, 3_600_000),
    ),
  ),
} as const

function keyPrefix(text: string): Parsed<string> {
  // Braces would take the keys out of their cluster slots.
  return /^[\w:.-]{1,64}$/.test(text)
    ? { value: text }
    : { problem: 'must be 1 to 64 letters, digits, _, :, . and -' }
}

function pemFile(path: string): Parsed<string> {
  const file = readNamedFile(path)
  if ('problem' in file || file.value.includes('-----BEGIN CERTIFICATE-----')) return file
  return { problem: 'names a file without a certificate in PEM' }
}

function dnsName(text: string): Parsed<string> {
  return /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text) && isIP(text) === 0
    ? { value: text }
    : { problem: 'must be a host name' }
}
