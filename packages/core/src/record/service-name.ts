/** Matches an absolute URL. Its user and password, which are secret, are not part of the group. */
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#\\]*@)?([^/?#\\\s@]+)/i
const NAMED = /^([a-z][a-z0-9-]*):\/(?!\/)/
const FIRST_PART = /^[^/?#\\\s@]+/
const UNREADABLE = 'unknown'
/** Matches what a host and a port have in almost every URL. */
const PLAIN = /^[a-z0-9.:-]+$/

/**
 * Names the service of a branch URL in one word: the service of `bank-a:/debit` as it is configured, else the host and the
 * port. It has nothing of the path, the query or the credentials.
 */
export function readServiceName(url: string): string {
  const plain = readPlainHost(url)
  if (plain !== undefined) return plain
  const name = ABSOLUTE.exec(url)?.[1] ?? NAMED.exec(url)?.[1] ?? FIRST_PART.exec(url)?.[0] ?? UNREADABLE
  return name.toLowerCase()
}

/** Reads the usual form of a URL without the patterns, since each view asks for every op. */
function readPlainHost(url: string): string | undefined {
  const start = url.startsWith('http://') ? 7 : url.startsWith('https://') ? 8 : undefined
  if (start === undefined) return undefined
  const end = url.indexOf('/', start)
  const host = end === -1 ? url.slice(start) : url.slice(start, end)
  return PLAIN.test(host) ? host : undefined
}
