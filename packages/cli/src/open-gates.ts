import {
  buildLoopbackHostRule,
  buildNamedHostRule,
  createGate,
  type Gate,
  type HostRule,
  KeyQuota,
  KeyRate,
  KeyRing,
  readBearerKey,
  readBearerOrBasicKey,
  type Sessions,
} from '@counterstep/access'
import type { AccessConfig } from '@counterstep/configuration'
import type { Logger } from '@counterstep/engine'
import { describeFailure } from './start-failure.ts'

/** Each HTTP API has its own gate, since the two take keys in different ways. They share the keys, rates and quotas. */
export interface Gates {
  readonly native: Gate
  readonly dtm: Gate
}

/** Reads the file of keys, if there is one. Throws SAGA_KEYS_UNUSABLE. */
export async function openKeys({ keysFile }: AccessConfig, logger: Logger): Promise<KeyRing | undefined> {
  return keysFile === undefined ? undefined : openRing(keysFile, logger)
}

/** Creates the gates. Only the native API has sessions, since no page calls DTM's. */
export function createGates(
  config: AccessConfig,
  keys: KeyRing | undefined,
  sessions: Sessions | undefined,
): Gates {
  const hosts = createHostRule(config)
  const shared = {
    ...(keys === undefined ? {} : { keys }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(config.ratePerKey === undefined ? {} : { keyRate: new KeyRate(config.ratePerKey) }),
    ...(config.quotaPerKey === undefined ? {} : { keyQuota: new KeyQuota(config.quotaPerKey) }),
  }
  const { dtmNetworks, dtmNetworksScopes } = config
  return {
    native: createGate({ ...shared, ...(sessions && { sessions }), credentials: readBearerKey }),
    dtm: createGate({
      ...shared,
      credentials: readBearerOrBasicKey,
      ...(dtmNetworks === undefined
        ? {}
        : { keylessNetworks: dtmNetworks, keylessScopes: dtmNetworksScopes }),
    }),
  }
}

async function openRing(path: string, logger: Logger): Promise<KeyRing> {
  const ring = await KeyRing.open(path, {
    onRead: (keys) => logger.info({ keys }, 'keys read again'),
    onBroken: (error) =>
      logger.error({ reason: describeFailure(error).sentence }, 'the keys file is broken; the old keys stay'),
  })
  if (ring.size === 0) logger.warn({}, 'the keys file has no key: nobody can use this server yet')
  return ring
}

function createHostRule({ isLoopback, allowedHosts }: AccessConfig): HostRule | undefined {
  if (isLoopback) return buildLoopbackHostRule(allowedHosts)
  return allowedHosts.length === 0 ? undefined : buildNamedHostRule(allowedHosts)
}
