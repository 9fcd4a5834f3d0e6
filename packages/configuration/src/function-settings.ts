import { metricsNamespace } from './metrics-namespace.ts'
import { queueUrl } from './queue-url.ts'
import { secretArn } from './secret-arn.ts'
import { oneOf, orUnset, setting } from './setting.ts'
import { SETTINGS } from './settings.ts'

/** One environment runs few transactions at once, and there may be hundreds of environments. */
const CONNECTIONS = 2

/** What a function may be told: a server's settings by the same names, and what only a function has. */
export const FUNCTION_SETTINGS = {
  store: SETTINGS.store,
  storePasswordSecret: setting(
    'store-password-secret',
    '',
    "ARN of the secret with the store's password, plain or in the JSON that RDS keeps",
    orUnset(secretArn),
  ),
  storeTls: SETTINGS.storeTls,
  storeTlsCa: SETTINGS.storeTlsCa,
  storeTlsServerName: SETTINGS.storeTlsServerName,
  storeFailover: SETTINGS.storeFailover,
  storeAcceptClassC: SETTINGS.storeAcceptClassC,
  storeDurability: SETTINGS.storeDurability,
  storeKeyPrefix: SETTINGS.storeKeyPrefix,
  storeConnectionsMax: { ...SETTINGS.storeConnectionsMax, fallback: String(CONNECTIONS) },
  storeProxy: SETTINGS.storeProxy,
  storeConnectTimeoutMs: SETTINGS.storeConnectTimeoutMs,
  storeTimeoutMs: SETTINGS.storeTimeoutMs,
  services: SETTINGS.services,
  allowTargets: SETTINGS.allowTargets,
  allowAnyTarget: SETTINGS.allowAnyTarget,
  egressProxy: SETTINGS.egressProxy,
  answerExcerpts: SETTINGS.answerExcerpts,
  connectionsPerOriginMax: SETTINGS.connectionsPerOriginMax,
  queuedPerOriginMax: SETTINGS.queuedPerOriginMax,
  originsMax: SETTINGS.originsMax,
  connectTimeoutMs: SETTINGS.connectTimeoutMs,
  keepAliveMs: SETTINGS.keepAliveMs,
  connectionAgeMsMax: SETTINGS.connectionAgeMsMax,
  answerBodyBytesMax: SETTINGS.answerBodyBytesMax,
  answerHeaderBytesMax: SETTINGS.answerHeaderBytesMax,
  signingKeySecret: setting(
    'signing-key-secret',
    '',
    'ARN of the secret with the file of signing-key create, by which branch calls are signed',
    orUnset(secretArn),
  ),
  keysSecret: setting(
    'keys-secret',
    '',
    'ARN of the secret with the file of keys create; every request needs a key then',
    orUnset(secretArn),
  ),
  authorizer: setting(
    'authorizer',
    '',
    'iam or jwt: API Gateway or the Function URL checks the caller, so that no key is needed',
    orUnset(oneOf('iam', 'jwt')),
  ),
  insecureNoKeys: SETTINGS.insecureNoKeys,
  ratePerKey: SETTINGS.ratePerKey,
  allowedHosts: SETTINGS.allowedHosts,
  queueUrl: setting(
    'queue-url',
    '',
    'URL of the SQS queue; without one the sweeper runs what is due',
    orUnset(queueUrl),
  ),
  metricsNamespace: setting(
    'metrics-namespace',
    'Counterstep',
    'namespace of the gauges in CloudWatch',
    metricsNamespace,
  ),
  logLevel: SETTINGS.logLevel,
  retentionMs: SETTINGS.retentionMs,
  holdMs: SETTINGS.holdMs,
  checkpointMs: SETTINGS.checkpointMs,
  branchTimeoutMs: SETTINGS.branchTimeoutMs,
  retryInitialMs: SETTINGS.retryInitialMs,
  retryFactor: SETTINGS.retryFactor,
  retryCapMs: SETTINGS.retryCapMs,
  retryJitter: SETTINGS.retryJitter,
  retryLimit: SETTINGS.retryLimit,
  inFlightMax: SETTINGS.inFlightMax,
  callsInFlightMax: SETTINGS.callsInFlightMax,
  targetShare: SETTINGS.targetShare,
  targetCallsPerSecond: SETTINGS.targetCallsPerSecond,
  timeoutMsMax: SETTINGS.timeoutMsMax,
  retryFloorMs: SETTINGS.retryFloorMs,
  parkAfterMs: SETTINGS.parkAfterMs,
} as const
