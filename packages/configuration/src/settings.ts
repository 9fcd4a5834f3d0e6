import { DEFAULT_CONNECTION_LIMITS as CONNECTIONS } from '@counterstep/access'
import { DEFAULT_CALLER_LIMITS as CALLER } from '@counterstep/branch-http'
import { parseAllowedOrigins, parseServices } from '@counterstep/branch-http/targets'
import {
  SETTINGS_BOUNDS as BOUNDS,
  DEFAULT_SETTINGS as ENGINE,
  type EngineSettings,
} from '@counterstep/engine'
import { BODY_BYTES_MAX, LIVE_STREAMS_MAX } from '@counterstep/protocol'
import { readAlertsFile } from './alerts/alerts-file.ts'
import * as is from './schemas.ts'
import { declareSettings, type HostKind, type Settings, type ValuesOf } from './setting.ts'
import { checkSigningKeyPath } from './signing-key-file.ts'
import { parseStore } from './store-target.ts'

const SQL_SERVERS = ['mysql', 'postgres'] as const
const SERVERS = [...SQL_SERVERS, 'redis'] as const
const { wholeNumber: whole } = is
const { retry } = ENGINE
const HOUR_MS = 3_600_000
/** A shorter time would cut calls of services that are only far away. */
const QUICK_CALL_MS_MIN = 200
const MIB = 1024 * 1024

/** Makes settings that a server and a function have, or only one of them. */
const [setting, ofServer, ofFunction] = [
  declareSettings('any'),
  declareSettings('server'),
  declareSettings('function'),
]

/**
 * Holds every setting of a host, in the order of the help text. An entry's name is the one in the file of `--config`; its
 * flag and its variable are made from it. A setting that is for some stores only is refused for the others, because it
 * would have no effect there and its user expects one.
 */
const TABLE = {
  host: ofServer(is.nonEmpty, 'address to listen on', '127.0.0.1'),
  port: ofServer(is.portNumber, 'port to listen on; 0 takes a free one', 8470),
  dtmPort: ofServer(
    is.orWord('off', 'off', is.portNumber),
    "port of DTM's HTTP API, or off; off beside --port 0 unless given",
    36_789,
  ),
  dtmGrpcPort: ofServer(
    is.orWord('off', 'off', is.portNumber),
    "port of DTM's gRPC API, which is 36790 for its clients, or off; needs packages that npm install brings",
    'off',
  ),
  dtmGrpcCert: ofServer(
    is.orUnset(is.certificates),
    "file with the certificate chain (PEM) of DTM's gRPC API, which then speaks TLS; read at the start",
  ),
  dtmGrpcKey: ofServer(is.orUnset(is.privateKey), 'file with its private key (PEM)'),
  services: setting(
    is.readWith(parseServices),
    'NAME=ORIGIN[/BASE],…: named services; a branch URL may then be NAME:/PATH',
  ),
  allowTargets: setting(
    is.readWith(parseAllowedOrigins),
    'ORIGIN,…: where else branches may be; https://*.example.internal stands for one label, ' +
      'http://10.0.0.0/8:* for the addresses of a private network at every port',
  ),
  allowAnyTarget: setting(
    is.trueOrFalse,
    'INSECURE: call whatever URL a request names; link-local and metadata addresses stay refused',
    'false',
  ),
  serviceCa: ofServer(
    is.pemByService,
    'NAME=FILE,…: authorities (PEM) that a named service is trusted by, in place of the usual ones',
  ),
  serviceCert: ofServer(
    is.pemByService,
    'NAME=FILE,…: client certificate (PEM) that is shown to a named service',
  ),
  serviceKey: ofServer(is.pemByService, 'NAME=FILE,…: its private key (PEM)'),
  egressProxy: setting(
    is.orUnset(is.proxyUrl),
    'http(s)://[USER:PASSWORD@]HOST:PORT: proxy that makes a tunnel for each connection to a branch',
  ),
  answerExcerpts: setting(
    is.onOrOff,
    "on or off: keep the first 1 KiB of a branch's last answer, to be shown",
    'on',
  ),
  connectionsPerOriginMax: caller('connectionsPerOriginMax', 65_535, 'connections to one origin at once'),
  queuedPerOriginMax: caller('queuedPerOriginMax', 10_000_000, 'calls that wait for one of them at once'),
  originsMax: caller('originsMax', 100_000, 'origins with connections at once'),
  connectTimeoutMs: caller('connectTimeoutMs', HOUR_MS, 'limit of one TCP and TLS connect'),
  keepAliveMs: caller('keepAliveMs', HOUR_MS, 'how long an idle connection to a branch is kept'),
  connectionAgeMsMax: caller(
    'connectionAgeMsMax',
    24 * HOUR_MS,
    'how old a connection to a branch may be that takes another call; then its name is looked up again',
  ),
  answerBodyBytesMax: caller('answerBodyBytesMax', 64 * MIB, 'of an answer, what is read'),
  answerHeaderBytesMax: caller('answerHeaderBytesMax', MIB, 'of its headers, what is taken'),
  keysFile: {
    ...ofServer(
      is.orUnset(is.anyText),
      'file of API keys, made by counterstep keys; every request needs one then',
    ),
    // A user who writes it wants keys. Without a file, every caller on this machine would need none.
    refusesEmpty: true,
  },
  keysSecret: ofFunction(
    is.orUnset(is.secretArn),
    'ARN of the secret with the file of keys create; every request needs a key then',
  ),
  authorizer: ofFunction(
    is.orUnset(is.word('iam', 'jwt')),
    'iam or jwt: API Gateway or the Function URL checks the caller, so that no key is needed',
  ),
  insecureNoKeys: setting(
    is.trueOrFalse,
    'listen beyond loopback without keys; anybody may do anything',
    'false',
  ),
  console: ofServer(
    is.word('auto', 'on', 'off'),
    'auto, on or off: the operators’ page under /console/; auto: on, but beyond loopback only with --keys-file',
    'auto',
  ),
  acceptNewKinds: setting(
    is.trueOrFalse,
    'take transactions of kind workflow, which nodes of the version before leave alone; for when no such node is left; dev: true on the embedded store',
    'false',
  ),
  plainIds: ofServer(
    is.trueOrFalse,
    'refuse gids with capital letters and branch ids with a -, which barriers of DTM in services may take for others',
    'false',
  ),
  ratePerKey: setting(
    is.orWord('off', undefined, whole(1, 1_000_000)),
    'requests per second that one key may make on this node, or off',
    'off',
  ),
  dailySubmitsPerKey: ofServer(
    is.orWord('off', undefined, whole(1, 1_000_000_000)),
    'new transactions that one key may ask this node for in a day (UTC), or off',
    'off',
  ),
  dailyBytesPerKey: ofServer(
    is.orWord('off', undefined, whole(1, 1_000_000_000_000)),
    'bytes that one key may have this node store in a day (UTC), or off',
    'off',
  ),
  dtmNetworks: ofServer(
    is.orUnset(is.networks),
    "CIDR,… from where DTM's API asks for no key, for what --dtm-networks-scopes allow",
  ),
  dtmNetworksScopes: ofServer(
    is.scopes,
    'what --dtm-networks may do without a key: submit, read, operate, admin',
    'submit',
  ),
  allowedHosts: setting(
    is.orUnset(is.hostNames),
    'NAME,… that a Host header may have, and a page that calls; loopback always may',
  ),
  connectionsMax: ofServer(
    whole(16, 1_000_000),
    'connections of callers at once, and never more than half of the descriptors that the process may open',
    CONNECTIONS.connectionsMax,
  ),
  strangersPerAddressMax: ofServer(
    whole(1, 1_000_000),
    'connections of one address at once that have not yet shown a good key',
    CONNECTIONS.strangersPerAddressMax,
  ),
  unreadBodyBytesMax: ofServer(
    whole(BODY_BYTES_MAX, 2 ** 40),
    'bytes that are held at once, in all: of request bodies until each is whole, and of large answers until each is read',
    CONNECTIONS.unreadBodyBytesMax,
  ),
  liveMax: ofServer(
    whole(0, 100_000),
    'streams of changes (/v1/live) at once; a page that gets none asks every few seconds instead',
    LIVE_STREAMS_MAX,
  ),
  data: ofServer(is.nonEmpty, 'folder of the embedded store', '.data', ['sqlite']),
  store: {
    ...setting(
      is.readWith(parseStore),
      'sqlite:PATH, a path, or a URL as below; default counterstep.db in the data folder',
    ),
    // A variable that was not filled in must not lead to a new store, whose rows are missed by all.
    refusesEmpty: true,
  },
  sqliteSynchronous: ofServer(
    is.word('full', 'normal'),
    'full: an acknowledged write survives power loss; normal: up to 2 s may be lost',
    'full',
    ['sqlite'],
  ),
  sqliteFreeBytesMin: ofServer(
    whole(0, 1_000_000_000_000),
    'with less room on its disk no new transaction is taken; 0 turns that off',
    268_435_456,
    ['sqlite'],
  ),
  storePasswordSecret: ofFunction(
    is.orUnset(is.secretArn),
    "ARN of the secret with the store's password, plain or in the JSON that RDS keeps",
  ),
  storeTls: setting(
    is.orUnset(is.word('off', 'required')),
    'off, or required: only through TLS, to a server whose certificate holds; ' +
      'default: mysql and postgres required beyond loopback, redis as its scheme says',
    '',
    SERVERS,
  ),
  storeTlsCa: setting(
    is.orUnset(is.certificates),
    'file with the certificates (PEM) that the store’s is signed by',
    '',
    SERVERS,
  ),
  storeTlsServerName: setting(
    is.orUnset(is.dnsName),
    'name that the store’s certificate must bear; needed where the URL has an address',
    '',
    SERVERS,
  ),
  storeFailover: setting(
    is.orUnset(is.word('none', 'lossless', 'lossy')),
    'what a failover of the database may lose: none (there is none), lossless or lossy; ' +
      'default: mysql lossy, since it hides its replicas, postgres and redis as they are found',
    '',
    SERVERS,
  ),
  storeAcceptClassC: setting(
    is.trueOrFalse,
    'start though the database may lose what it acknowledged, or evict it; shown in /health/ready',
    'false',
    SERVERS,
  ),
  storeDurability: setting(
    is.orUnset(is.word('a', 'b')),
    'class of a Redis that hides its settings: a, each write is flushed, or b, each second; what can be read counts more',
    '',
    ['redis'],
  ),
  storeKeyPrefix: setting(
    is.keyPrefix,
    'stands before every key, for several stores in one Redis',
    'counterstep',
    ['redis'],
  ),
  storeConnectionsMax: setting(whole(2, 1_000), 'connections to the store at once', 10, SQL_SERVERS),
  storeProxy: setting(
    is.word('auto', 'on', 'off'),
    'on: a proxy lends the database’s connections (RDS Proxy, PgBouncer), and no statement may pin one; auto: where the host is an RDS Proxy',
    'auto',
    SQL_SERVERS,
  ),
  storeConnectTimeoutMs: setting(whole(100, 600_000), 'limit of one attempt to connect', 2_000, SERVERS),
  processes: ofServer(
    whole(1, 64),
    'processes that share the port and the store; SIGHUP restarts one after the other',
    1,
    SERVERS,
  ),
  storeWaitMs: ofServer(
    whole(0, HOUR_MS),
    'how long to wait at start for a store that does not answer yet; one that refuses the login: 3 s at most',
    30_000,
    SERVERS,
  ),
  signingKeyFile: ofServer(
    is.orUnset(is.readWith(checkSigningKeyPath)),
    'file with the key that branch calls are signed with, from signing-key create; read again when it changes',
  ),
  alertsFile: ofServer(
    is.orUnset(is.readWith(readAlertsFile)),
    'JSON file, of mode 0600, that says who is told by webhook when a person is needed: { consoleUrl, targets }',
  ),
  otlp: ofServer(
    is.orUnset(is.receiverUrl),
    'URL of a receiver of OTLP over HTTP, to which traces are sent; the variables of OpenTelemetry (OTEL_…) count, too',
  ),
  signingKeySecret: ofFunction(
    is.orUnset(is.secretArn),
    'ARN of the secret with the file of signing-key create, by which branch calls are signed',
  ),
  queueUrl: ofFunction(
    is.orUnset(is.queueUrl),
    'URL of the SQS queue; without one the sweeper runs what is due',
  ),
  slowQueueUrl: ofFunction(
    is.orUnset(is.queueUrl),
    'URL of the SQS queue for what goes on with calls that hang or take long',
  ),
  quickCallMs: ofFunction(
    is.orUnset(whole(QUICK_CALL_MS_MIN, HOUR_MS)),
    'longest time that branch calls hold a function; longer calls are left to the slow queue; unset for the function of that queue',
  ),
  metricsNamespace: ofFunction(is.metricsNamespace, 'namespace of the gauges in CloudWatch', 'Counterstep'),
  logLevel: setting(
    is.word('error', 'warn', 'info', 'debug', 'silent'),
    'error, warn, info, debug or silent',
    'info',
  ),
  retentionMs: setting(
    is.orWord('never', 'never', whole(...BOUNDS.retentionMs)),
    'how long a finished transaction is kept, or never (to purge)',
    ENGINE.retentionMs,
  ),
  leaseMs: ofServer(...engine('leaseMs', 'how long a node owns what it runs')),
  pollMs: ofServer(...engine('pollMs', 'how often what is due is looked for')),
  holdMs: setting(...engine('holdMs', 'longest wait spent in memory')),
  checkpointMs: setting(
    ...engine('checkpointMs', 'how long progress may stay unsaved; 0 saves each result first'),
  ),
  branchTimeoutMs: setting(...engine('branchTimeoutMs', 'limit of one branch call')),
  storeTimeoutMs: setting(...engine('storeTimeoutMs', 'limit of one wait for the store')),
  retryInitialMs: setting(
    whole(...BOUNDS.retry.initialMs),
    'first wait before asking again',
    retry.initialMs,
  ),
  retryFactor: setting(is.decimal(...BOUNDS.retry.factor), 'growth of that wait', retry.factor),
  retryCapMs: setting(whole(...BOUNDS.retry.capMs), 'longest such wait', retry.capMs),
  retryJitter: setting(is.decimal(...BOUNDS.retry.jitter), 'share of the wait that is random', retry.jitter),
  retryLimit: setting(
    is.orWord('none', null, whole(...BOUNDS.retry.limit)),
    'failed attempts of an action before the saga turns around, or none',
    retry.limit ?? 'none',
  ),
  inFlightMax: setting(...engine('inFlightMax', 'transactions held at once')),
  callsInFlightMax: setting(...engine('callsInFlightMax', 'branch calls at once')),
  targetShare: setting(
    is.decimal(...BOUNDS.targetShare),
    'share of transactions and calls in flight that one target may hold; 1 lets one target that hangs stop all',
    ENGINE.targetShare,
  ),
  targetCallsPerSecond: setting(
    is.orWord('off', null, whole(...BOUNDS.targetCallsPerSecond)),
    'branch calls of this node to one target a second, or off; one more waits',
    ENGINE.targetCallsPerSecond ?? 'off',
  ),
  timeoutMsMax: setting(...engine('timeoutMsMax', 'longest timeoutMs that a request may ask for')),
  retryFloorMs: setting(
    ...engine(
      'retryFloorMs',
      'least wait after five failures of a call, growing with more, whatever its retry policy',
    ),
  ),
  parkAfterMs: setting(
    is.orWord('never', 'never', whole(...BOUNDS.parkAfterMs)),
    'a call that has failed for so long is parked with attention until it is retried by hand, or never',
    ENGINE.parkAfterMs,
  ),
  waitersMax: ofServer(...engine('waitersMax', 'callers waiting for an end at once')),
  recoveryInFlightMax: ofServer(...engine('recoveryInFlightMax', 'transactions that recovery holds at once')),
  claimLimit: ofServer(...engine('claimLimit', 'rows claimed at once')),
  hintsMax: ofServer(...engine('hintsMax', 'future due instants remembered')),
  memoryAckMax: ofServer(...engine('memoryAckMax', 'submits with ack "memory" at once')),
  scansAtOnceMax: ofServer(...engine('scansAtOnceMax', 'lists under way at once')),
  readsAtOnceMax: ofServer(
    ...engine('readsAtOnceMax', 'single transactions read at once for those who only read'),
  ),
  readsWaitingMax: ofServer(
    ...engine('readsWaitingMax', 'lists, and single reads, that wait for their turn at once'),
  ),
  readWaitMs: ofServer(
    ...engine('readWaitMs', 'how long a list or a read waits for its turn before it is refused (429)'),
  ),
} as const satisfies Settings

/** Names all settings, of any host. */
export type AnyName = keyof typeof TABLE
type NameFor<Host extends HostKind> = {
  [Name in AnyName]: (typeof TABLE)[Name]['host'] extends 'any' | Host ? Name : never
}[AnyName]
type SettingsFor<Host extends HostKind> = Pick<typeof TABLE, NameFor<Host>>

/** Holds the settings of `counterstep serve`. */
export const SETTINGS = pickSettings('server')
const functionSettings = pickSettings('function')
/**
 * Holds the settings of a function. Its default of connections is low: one environment runs few transactions at once, and
 * there may be hundreds of environments.
 */
export const FUNCTION_SETTINGS = {
  ...functionSettings,
  storeConnectionsMax: { ...functionSettings.storeConnectionsMax, fallback: '2' },
}

export type SettingName = keyof typeof SETTINGS
export type SettingValues = ValuesOf<typeof SETTINGS>
export type FunctionName = keyof typeof FUNCTION_SETTINGS
export type FunctionValues = ValuesOf<typeof FUNCTION_SETTINGS>

function pickSettings<Host extends HostKind>(host: Host): SettingsFor<Host> {
  const own = Object.entries(TABLE).filter(([, each]) => each.host === 'any' || each.host === host)
  return Object.fromEntries(own) as SettingsFor<Host>
}

/** Makes a setting for a bound of the branch caller, from 1 on. */
function caller(name: keyof typeof CALLER, max: number, help: string) {
  return setting(whole(1, max), help, CALLER[name])
}

type EngineNumber = Exclude<
  keyof EngineSettings,
  'retentionMs' | 'retry' | 'targetCallsPerSecond' | 'parkAfterMs' | 'acceptNewKinds'
>

/** Describes a whole number of the engine, with the engine's bounds and default. */
function engine(name: EngineNumber, help: string) {
  return [whole(...BOUNDS[name]), help, ENGINE[name]] as const
}
