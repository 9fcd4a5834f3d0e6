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

/** Says who may use the HTTP API, as the check of the option `face` has found it. */
export type FaceAccess =
  | { readonly type: 'keys-file'; readonly path: string }
  | { readonly type: 'keys'; readonly keys: KeyFinder }
  | { readonly type: 'insecure-no-keys' }

export interface OpenGate {
  readonly gate: Gate
  /** They are there where the console is and keys are asked for. */
  readonly sessions?: Sessions
  /** They are there where keys are asked for. */
  readonly keys?: KeyFinder
  close(): void
}

/**
 * Checks the option `face`, and returns who may use the HTTP API. The gate is opened for what is returned here, and the
 * option is not read a second time. Throws a TypeError that says what is wrong with it.
 */
export function checkFaceOption(face: Face): FaceAccess {
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
  const access = readFaceAccess(face)
  const { ratePerKey, quotaPerKey } = readBounds(face)
  if (ratePerKey !== undefined && !(Number.isSafeInteger(ratePerKey) && ratePerKey > 0))
    throw new TypeError('counterstep face.ratePerKey must be a whole number from 1 on')
  const { unreadBodyBytesMax = BODY_BYTES_MAX } = face
  if (!Number.isSafeInteger(unreadBodyBytesMax) || unreadBodyBytesMax < BODY_BYTES_MAX)
    throw new TypeError(
      `counterstep face.unreadBodyBytesMax must be a whole number from ${BODY_BYTES_MAX} on`,
    )
  if (quotaPerKey !== undefined) checkQuota(quotaPerKey)
  const { prefix = DEFAULT_PREFIX, allowedHosts = [], console } = face
  if (console !== undefined && typeof console !== 'boolean')
    throw new TypeError('counterstep face.console must be true or false')
  // At the root, the API would answer unknown routes in place of the app.
  if (!/^(\/[^/\s]+)+$/.test(prefix))
    throw new TypeError(`counterstep face.prefix must be a path such as ${DEFAULT_PREFIX}`)
  const wrong = allowedHosts.findIndex((name) => readHostname(name) === undefined)
  if (wrong >= 0) throw new TypeError(`counterstep face.allowedHosts[${wrong}] is no host`)
  return access
}

/** A program in JavaScript may give any value. */
interface UncheckedAccess {
  readonly keysFile?: unknown
  readonly keys?: unknown
  readonly insecureNoKeys?: unknown
}

/**
 * Finds the one way that the option names. A name with the value `undefined` counts as absent, and so does
 * `insecureNoKeys: false`. Any other value that is no good one is refused, because a program that computes it by mistake
 * meant to ask for keys.
 */
function readFaceAccess(face: Face): FaceAccess {
  const { keysFile, keys, insecureNoKeys }: UncheckedAccess = face
  const ways: FaceAccess[] = []
  if (keysFile !== undefined) {
    if (typeof keysFile !== 'string' || keysFile === '')
      throw new TypeError('counterstep face.keysFile must be the path of a file')
    ways.push({ type: 'keys-file', path: keysFile })
  }
  if (keys !== undefined) {
    if (!isKeyFinder(keys)) throw new TypeError('counterstep face.keys must be an object with find(id)')
    ways.push({ type: 'keys', keys })
  }
  if (insecureNoKeys !== undefined && typeof insecureNoKeys !== 'boolean')
    throw new TypeError('counterstep face.insecureNoKeys must be true or false')
  if (insecureNoKeys === true) ways.push({ type: 'insecure-no-keys' })
  const [access] = ways
  if (access !== undefined && ways.length === 1) return access
  throw new TypeError(
    'counterstep face needs one of keysFile (made by `counterstep keys create`), keys, or, if no one else can reach ' +
      'it, insecureNoKeys: true; or leave the face out and use app.counterstep alone',
  )
}

/** An array has a method of that name too, which looks for something else. */
function isKeyFinder(value: unknown): value is KeyFinder {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return 'find' in value && typeof value.find === 'function'
}

/** Reads the bounds of a key. They are in the type of a face with keys alone. */
function readBounds(face: Face): { ratePerKey?: number | undefined; quotaPerKey?: QuotaBounds | undefined } {
  return face as Partial<Exclude<Face, { readonly insecureNoKeys: true }>>
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

/**
 * Makes the gate for the access that the check has found. Throws SAGA_KEYS_UNUSABLE if the file of keys cannot be read.
 */
export async function openGate(
  face: Face,
  access: FaceAccess,
  logger: Logger,
  store: Parts['store'],
): Promise<OpenGate> {
  const { allowedHosts = [], console = false } = face
  if (access.type === 'insecure-no-keys') {
    logger.warn(
      {},
      'insecureNoKeys: anyone who reaches the HTTP API may submit, read, abort and stop transactions',
    )
    const hosts = buildLoopbackHostRule(allowedHosts)
    return { gate: createGate({ hosts, credentials: readBearerKey }), close: () => undefined }
  }
  const { ratePerKey, quotaPerKey } = readBounds(face)
  const more = {
    ...(console ? { sessions: new Sessions(store) } : {}),
    ...(ratePerKey === undefined ? {} : { keyRate: new KeyRate(ratePerKey) }),
    ...(quotaPerKey === undefined ? {} : { keyQuota: new KeyQuota(quotaPerKey) }),
    ...(allowedHosts.length === 0 ? {} : { hosts: buildNamedHostRule(allowedHosts) }),
  }
  if (access.type === 'keys') return buildGateWithKeys({ keys: access.keys, ...more })
  const ring = await openRing(access.path, logger)
  return buildGateWithKeys({ keys: ring, ...more }, () => ring.close())
}

interface GateParts {
  readonly keys: KeyFinder
  readonly sessions?: Sessions
  readonly keyRate?: KeyRate
  readonly keyQuota?: KeyQuota
  readonly hosts?: HostRule
}

/** Throws if it has no keys, because a gate without keys lets every caller in. */
function buildGateWithKeys(parts: GateParts, close?: () => void): OpenGate {
  const { sessions, keys } = parts
  const gate = createGate({ ...parts, credentials: readBearerKey })
  if (!gate.hasKeys) throw new Error('counterstep face was given keys, and its gate has none')
  return { gate, ...(sessions && { sessions }), keys, close: () => close?.() }
}

async function openRing(path: string, logger: Logger): Promise<KeyRing> {
  const ring = await KeyRing.open(path, {
    onRead: (keys) => logger.info({ keys }, 'keys read again'),
    onBroken: (error) => logger.error({ err: error }, 'the keys file is broken; the old keys stay'),
  })
  if (ring.size === 0) logger.warn({}, 'the keys file has no key, so no one can use the HTTP API yet')
  return ring
}
