/** Self-signed X.509 certificates, written byte by byte (RFC 5280), so that an expired one needs no tool. */
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export interface CertificateSettings {
  readonly validFrom: Date
  readonly validTo: Date
  /** The one IPv4 address for which it is valid. */
  readonly address: string
}

export interface Certificate {
  readonly key: string
  readonly cert: string
}

const COMMON_NAME = '2.5.4.3'
const SUBJECT_ALT_NAME = '2.5.29.17'
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2'

const SEQUENCE = 0x30
const SET = 0x31
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OBJECT_IDENTIFIER = 0x06
const UTF8_STRING = 0x0c
const GENERALIZED_TIME = 0x18
const VERSION_TAG = 0xa0
const EXTENSIONS_TAG = 0xa3
const ADDRESS_TAG = 0x87
const VERSION_3 = 2

export function selfSignedCertificate({ validFrom, validTo, address }: CertificateSettings): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = node(SEQUENCE, objectId(ECDSA_WITH_SHA256))
  const name = distinguishedName(`counterstep test ${randomBytes(4).toString('hex')}`)
  const content = node(
    SEQUENCE,
    node(VERSION_TAG, node(INTEGER, Buffer.from([VERSION_3]))),
    // The number is positive, since its first bit is not set, and has no needless zero.
    node(INTEGER, Buffer.concat([Buffer.from([0x01]), randomBytes(8)])),
    algorithm,
    name,
    node(SEQUENCE, time(validFrom), time(validTo)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    node(EXTENSIONS_TAG, node(SEQUENCE, addressExtension(address))),
  )
  const signature = node(BIT_STRING, Buffer.from([0]), sign('sha256', content, privateKey))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem(node(SEQUENCE, content, algorithm, signature)),
  }
}

function distinguishedName(commonName: string): Buffer {
  const attribute = node(SEQUENCE, objectId(COMMON_NAME), node(UTF8_STRING, Buffer.from(commonName)))
  return node(SEQUENCE, node(SET, attribute))
}

function addressExtension(address: string): Buffer {
  const bytes = Buffer.from(address.split('.').map(Number))
  const names = node(SEQUENCE, node(ADDRESS_TAG, bytes))
  return node(SEQUENCE, objectId(SUBJECT_ALT_NAME), node(OCTET_STRING, names))
}

/** Writes GeneralizedTime also before 2050, where RFC 5280 requires the short form. OpenSSL reads both. */
function time(at: Date): Buffer {
  const digits = at.toISOString().replace(/\.\d+Z$|[-:T]/g, '')
  return node(GENERALIZED_TIME, Buffer.from(`${digits}Z`))
}

function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return node(OBJECT_IDENTIFIER, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const digits = [value % 128]
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128))
    digits.unshift(128 + (left % 128))
  return digits
}

function node(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, ...writeLength(content)]), content])
}

function writeLength({ length }: Buffer): number[] {
  if (length < 0x80) return [length]
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
