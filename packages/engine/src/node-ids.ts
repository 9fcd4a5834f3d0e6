import { randomBytes } from 'node:crypto'
import type { Ids } from '@counterstep/core'
import { createTimeOrderedGid } from '@counterstep/protocol'

const POOL_BYTES = 16 * 256

/** Draws random ids from one buffer, since a call of randomBytes for each id would cost more than the id. */
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
    gid: () => createTimeOrderedGid(Date.now(), token()),
    jitter: () => Math.random(),
  }
}
