import { randomBytes } from 'node:crypto'
import type { Ids } from '@counterstep/core'
import type { Gid } from '@counterstep/protocol'

const POOL_BYTES = 16 * 256

/** Random ids from one buffer, since a call of randomBytes for each costs more than the id. */
export function nodeIds(): Ids {
  let pool = ''
  let next = 0
  const process = randomBytes(8).toString('hex')
  let writes = 0

  function token(): string {
    if (next === pool.length) {
      pool = randomBytes(POOL_BYTES).toString('hex')
      next = 0
    }
    next += 32
    return pool.slice(next - 32, next)
  }

  return {
    token,
    writeId: () => `${process}-${(writes++).toString(36)}`,
    gid: () => timeOrdered(token()) as Gid,
    jitter: () => Math.random(),
  }
}

/** UUIDv7 (RFC 9562): time first, so that indexes grow at their end. */
function timeOrdered(random: string): string {
  const time = Date.now().toString(16).padStart(12, '0')
  const variant = ((Number.parseInt(random.charAt(3), 16) & 3) | 8).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`
}
