import { randomBytes, randomInt } from 'node:crypto'

const SECRET_BYTES = 32
const ID_LENGTH = 12
const ID_LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'

// The secret is base64url, which has the underscore; the id does not contain one.
const KEY = /^cs_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/
const ID = /^[a-z0-9]{12}$/

/** Holds the parts of a key, whose owner has it as the text `cs_<id>_<32 random bytes>`. */
export interface KeyParts {
  readonly id: string
  readonly secret: string
}

export function drawKeyParts(): KeyParts {
  const letters = Array.from({ length: ID_LENGTH }, () => ID_LETTERS[randomInt(ID_LETTERS.length)])
  return { id: letters.join(''), secret: randomBytes(SECRET_BYTES).toString('base64url') }
}

export function writeKey({ id, secret }: KeyParts): string {
  return `cs_${id}_${secret}`
}

export function readKey(text: string): KeyParts | undefined {
  const [, id, secret] = KEY.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

export function isKeyId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value)
}
