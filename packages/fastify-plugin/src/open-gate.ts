import {
  buildLoopbackHostRule,
  buildNamedHostRule,
  createGate,
  type Gate,
  type HostRule,
  type KeyFinder,
  KeyQuota,
  KeyRate,
  KeyRing,
  type QuotaBounds,
  readBearerKey,
  readHostname,
  Sessions,
} from '@counterstep/access'
import { type Parts, refuseUnknown } from '@counterstep/embedded'
import type { Logger } from '@counterstep/engine'
import { BODY_BYTES_MAX } from '@counterstep/protocol'
import { DEFAULT_PREFIX } from './add-api.ts'
import type { Face } from './options.ts'

export interface OpenGate {
  readonly gate: Gate
  /** They are there where the console is and keys are asked for. */
  readonly sessions?: Sessions
  /** They are there where keys are asked for. */
  readonly keys?: KeyFinder
  close(): void
}

/** Checks the option `face`. Throws a TypeError that says what is wrong with it. */
export function checkFaceOption(face: Face): void {
  const known = [
    'prefix',
    'console',
    'allowedHosts',
    'unreadBodyBytesMax',
    'keysFile',
    'keys',
    'ratePerKey',
    'quotaPerKey',
    'insecureNoKeys',
  ]
  refuseUnknown('counterstep face', face, known)
  const ways = [
    'keysFile' in face && face.keysFile,
    'keys' in face && face.keys,
    'insecureNoKeys' in face && face.insecureNoKeys === true,
  ].filter(Boolean)
  if (ways.length !== 1) {
    throw new TypeError(
      'counterstep face needs one of keysFile (made by `counterstep keys create`), keys, or, if no one else can reach ' +
        'it, insecureNoKeys: true; or leave the face out and use app.counterstep alone',
    )
  }
  if ('ratePerKey' in face && !(Number.isSafeInteger(face.ratePerKey) && Number(face.ratePerKey) > 0))
    throw new TypeError('counterstep face.ratePerKey must be a whole number from 1 on')
  const { unreadBodyBytesMax = BODY_BYTES_MAX } = face
  if (!Number.isSafeInteger(unreadBodyBytesMax) || unreadBodyBytesMax < BODY_BYTES_MAX)
    throw new TypeError(
      `counterstep face.unreadBodyBytesMax must be a whole number from ${BODY_BYTES_MAX} on`,
    )
  if ('quotaPerKey' in face && face.quotaPerKey !== undefined) checkQuota(face.quotaPerKey)
  const { prefix = DEFAULT_PREFIX, allowedHosts = [], console } = face
  if (console !== undefined && typeof console !== 'boolean')
    throw new TypeError('counterstep face.console must be true or false')
  // At the root, the API would answer unknown routes in place of the app.
  if (!/^(\/[^/\s]+)+$/.test(prefix))
    throw new TypeError(`counterstep face.prefix must be a path such as ${DEFAULT_PREFIX}`)
  const wrong = allowedHosts.findIndex((name) => readHostname(name) === undefined)
  if (wrong >= 0) throw new TypeError(`counterstep face.allowedHosts[${wrong}] is no host`)
}

function checkQuota(quota: QuotaBounds): void {
  if (typeof quota !== 'object' || quota === null)
    throw new TypeError('counterstep face.quotaPerKey must be an object with submitsMax, bytesMax or both')
  refuseUnknown('counterstep face.quotaPerKey', quota, ['submitsMax', 'bytesMax'])
  for (const [name, value] of Object.entries(quota)) {
    if (value === undefined || (Number.isSafeInteger(value) && Number(value) > 0)) continue
    throw new TypeError(`counterstep face.quotaPerKey.${name} must be a whole number from 1 on`)
  }
}

/** Makes the gate that the option `face` asks for. Throws SAGA_KEYS_UNUSABLE if the file of keys cannot be read. */
export async function openGate(face: Face, logger: Logger, store: Parts['store']): Promise<OpenGate> {
  const { allowedHosts = [], console = false } = face
  if ('insecureNoKeys' in face) {
    logger.warn(
      {},
      'insecureNoKeys: anyone who reaches the HTTP API may submit, read, abort and stop transactions',
    )
    return buildOpenGate({ hosts: buildLoopbackHostRule(allowedHosts) })
  }
  const { ratePerKey, quotaPerKey } = face
  const more = {
    ...(console ? { sessions: new Sessions(store) } : {}),
    ...(ratePerKey === undefined ? {} : { keyRate: new KeyRate(ratePerKey) }),
    ...(quotaPerKey === undefined ? {} : { keyQuota: new KeyQuota(quotaPerKey) }),
  }
  const hosts = allowedHosts.length === 0 ? {} : { hosts: buildNamedHostRule(allowedHosts) }
  if ('keys' in face) return buildOpenGate({ keys: face.keys, ...more, ...hosts })
  const ring = await openRing(face.keysFile, logger)
  return buildOpenGate({ keys: ring, ...more, ...hosts }, () => ring.close())
}

interface GateParts {
  readonly keys?: KeyFinder
  readonly sessions?: Sessions
  readonly keyRate?: KeyRate
  readonly keyQuota?: KeyQuota
  readonly hosts?: HostRule
}

function buildOpenGate(parts: GateParts, close?: () => void): OpenGate {
  const { sessions, keys } = parts
  const gate = createGate({ ...parts, credentials: readBearerKey })
  return { gate, ...(sessions && { sessions }), ...(keys && { keys }), close: () => close?.() }
}

async function openRing(path: string, logger: Logger): Promise<KeyRing> {
  const ring = await KeyRing.open(path, {
    onRead: (keys) => logger.info({ keys }, 'keys read again'),
    onBroken: (error) => logger.error({ err: error }, 'the keys file is broken; the old keys stay'),
  })
  if (ring.size === 0) logger.warn({}, 'the keys file has no key, so no one can use the HTTP API yet')
  return ring
}
