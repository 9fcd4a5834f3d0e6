import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'

const PAGE = join(import.meta.dirname, '../../../docs/stores.md')
const PASSWORD = 'least-rights'
const MAY_NOT_SAVE = /not configured to use an ACL file/

/** These are the words after `ACL SETUSER counterstep` in docs/stores.md. The tests run with exactly these rights. */
export function documentedRights(): readonly string[] {
  const line = /^ACL SETUSER counterstep ((?:.*\\\n)*.*)$/m.exec(readFileSync(PAGE, 'utf8'))?.[1]
  if (line === undefined) throw new Error('docs/stores.md shows no ACL')
  return line.split(/[\s\\]+/)
}

/** Makes the documented user for one key prefix on every server of the URL, and returns the user's URL. */
export async function asLeastUser(url: string, keyPrefix: string): Promise<string> {
  const { hosts } = parseUrl(url)
  // A test that names a user runs as that user.
  if (hosts.includes('@')) return url
  const words = documentedRights().map((word) =>
    word === '>...' ? `>${PASSWORD}` : word.replace('~counterstep:', `~${keyPrefix}:`),
  )
  for (const host of hosts.split(',')) await setUser(host, toUserName(keyPrefix), words)
  return leastUserUrl(url, keyPrefix)
}

/** Makes the URL for that user, which need not exist yet. */
export function leastUserUrl(url: string, keyPrefix: string): string {
  const { scheme, hosts, path } = parseUrl(url)
  return [`${scheme}://${toUserName(keyPrefix)}:${PASSWORD}@${hosts}`, ...path].join('/')
}

function parseUrl(url: string) {
  const [scheme = '', servers = ''] = url.split('://')
  const [hosts = '', ...path] = servers.split('/')
  return { scheme, hosts, path }
}

function toUserName(keyPrefix: string): string {
  return `user-${keyPrefix}`
}

async function setUser(host: string, user: string, words: readonly string[]): Promise<void> {
  const admin = new Redis(`redis://${host}`, { lazyConnect: true, retryStrategy: () => null })
  try {
    await admin.connect()
    await admin.call('ACL', 'SETUSER', user, ...words)
    // A restarted server then still knows the user. A server that was given to the tests may have no file for it.
    await admin.call('ACL', 'SAVE').catch((error: Error) => {
      if (!MAY_NOT_SAVE.test(error.message)) throw error
    })
  } finally {
    admin.disconnect()
  }
}
