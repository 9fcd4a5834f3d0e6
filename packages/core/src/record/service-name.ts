/** Matches an absolute URL. Its user and password, which are secret, are not part of the group. */
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#\\]*@)?([^/?#\\\s@]+)/i
const NAMED = /^([a-z][a-z0-9-]*):\/(?!\/)/
const FIRST_PART = /^[^/?#\\\s@]+/
const UNREADABLE = 'unknown'

/**
 * Names the service of a branch URL in one word: the service of `bank-a:/debit` as it is configured, else the host and the
 * port. It has nothing of the path, the query or the credentials.
 */
export function readServiceName(url: string): string {
  const name = ABSOLUTE.exec(url)?.[1] ?? NAMED.exec(url)?.[1] ?? FIRST_PART.exec(url)?.[0] ?? UNREADABLE
  return name.toLowerCase()
}
