import { readFileSync } from 'node:fs'
import { ServerMissingError } from '../errors.ts'

/** The user of a program. */
export interface ServerUser {
  readonly uid: number
  readonly gid: number
}

const PASSWD_FILE = '/etc/passwd'
/** PostgreSQL's packages make the first user. */
const NAMES = ['postgres', 'nobody']

/** PostgreSQL refuses to run as root, so this finds a user without rights. Returns undefined if this process is not root. */
export function findUnprivilegedUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const user = parseUser(readFileSync(PASSWD_FILE, 'utf8'))
  if (user !== undefined) return user
  throw new ServerMissingError(
    `no PostgreSQL here: it refuses to run as root, and there is no user ${NAMES.join(' or ')}. Run as another user or set TEST_POSTGRES_URL`,
  )
}

export function parseUser(passwd: string): ServerUser | undefined {
  const users = new Map(
    passwd.split('\n').map((line) => {
      const [name = '', , uid, gid] = line.split(':')
      return [name, { uid: Number(uid), gid: Number(gid) }]
    }),
  )
  return NAMES.map((name) => users.get(name)).find((user) => user !== undefined && user.uid > 0)
}
