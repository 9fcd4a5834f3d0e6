const BEARER = /^Bearer +([^\s]+) *$/i
const BASIC = /^Basic +([A-Za-z0-9+/=]+) *$/i

/** Finds the key where one HTTP API expects it. Returns undefined if there is none. */
export type CredentialReader = (authorization: string | undefined) => string | undefined

export function readBearerKey(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
}

/**
 * Finds a key also as the password of HTTP Basic, which is what a client makes of `http://user:KEY@host`. Any user name
 * is accepted.
 */
export function readBearerOrBasicKey(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined
  const encoded = BASIC.exec(authorization)?.[1]
  if (encoded === undefined) return readBearerKey(authorization)
  const login = Buffer.from(encoded, 'base64').toString('latin1')
  const colonAt = login.indexOf(':')
  return colonAt === -1 ? undefined : login.slice(colonAt + 1)
}
