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
} from '@counterstep/access'
import type { AccessConfig } from '@counterstep/configuration'
import type { Logger } from '@counterstep/engine'
import { describeFailure } from './start-failure.ts'

/** Each HTTP API has its own gate, since the two take keys in different ways. They share the keys, rates and quotas. */
export interface Gates {
  readonly native: Gate
  readonly dtm: Gate
  close(): void
}

/** Reads the keys and creates the gates. Throws SAGA_KEYS_UNUSABLE. */
export async function openGates(config: AccessConfig, logger: Logger): Promise<Gates> {
  const ring = config.keysFile === undefined ? undefined : await openRing(config.keysFile, logger)
  const hosts = createHostRule(config)
  const shared = {
    ...(ring === undefined ? {} : { keys: ring }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(config.ratePerKey === undefined ? {} : { keyRate: new KeyRate(config.ratePerKey) }),
    ...(config.quotaPerKey === undefined ? {} : { keyQuota: new KeyQuota(config.quotaPerKey) }),
  }
  const { dtmNetworks, dtmNetworksScopes } = config
  return {
    native: createGate({ ...shared, credentials: readBearerKey }),
    dtm: createGate({
      ...shared,
      credentials: readBearerOrBasicKey,
      ...(dtmNetworks === undefined
        ? {}
        : { keylessNetworks: dtmNetworks, keylessScopes: dtmNetworksScopes }),
    }),
    close: () => ring?.close(),
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
