import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'

const PAGE = join(import.meta.dirname, '../../../docs/stores.md')
const PASSWORD = 'least-rights'
const MAY_NOT_SAVE = /not configured to use an ACL file/

/** The words behind `ACL SETUSER counterstep` of docs/stores.md: what stands there is what the tests run under. */
export function documentedRights(): readonly string[] {
  const line = /^ACL SETUSER counterstep ((?:.*\\\n)*.*)$/m.exec(readFileSync(PAGE, 'utf8'))?.[1]
  if (line === undefined) throw new Error('docs/stores.md shows no ACL')
  return line.split(/[\s\\]+/)
}

/** Makes the documented user for one key prefix on every server of the URL, and answers the URL for it. */
export async function asLeastUser(url: string, keyPrefix: string): Promise<string> {
  const { hosts } = partsOf(url)
  // A test that names a user means that one.
  if (hosts.includes('@')) return url
  const words = documentedRights().map((word) =>
    word === '>...' ? `>${PASSWORD}` : word.replace('~counterstep:', `~${keyPrefix}:`),
  )
  for (const host of hosts.split(',')) await setUser(host, nameOf(keyPrefix), words)
  return leastUserUrl(url, keyPrefix)
}

/** The URL for that user, who need not be there yet. */
export function leastUserUrl(url: string, keyPrefix: string): string {
  const { scheme, hosts, path } = partsOf(url)
  return [`${scheme}://${nameOf(keyPrefix)}:${PASSWORD}@${hosts}`, ...path].join('/')
}

function partsOf(url: string) {
  const [scheme = '', servers = ''] = url.split('://')
  const [hosts = '', ...path] = servers.split('/')
  return { scheme, hosts, path }
}

function nameOf(keyPrefix: string): string {
  return `user-${keyPrefix}`
}

async function setUser(host: string, user: string, words: readonly string[]): Promise<void> {
  const admin = new Redis(`redis://${host}`, { lazyConnect: true, retryStrategy: () => null })
  try {
    await admin.connect()
    await admin.call('ACL', 'SETUSER', user, ...words)
    // So that a restarted server still knows the user; a server that was given to us may have no file for it.
    await admin.call('ACL', 'SAVE').catch((error: Error) => {
      if (!MAY_NOT_SAVE.test(error.message)) throw error
    })
  } finally {
    admin.disconnect()
  }
}
