import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'

const HOST_LENGTH_MAX = 63

/** Draws a name for this process that no other node has, and by which people find its machine. */
export function nameNode(host = hostname()): string {
  const visible = host.replace(/[^\w.-]/g, '').slice(0, HOST_LENGTH_MAX)
  return `${visible}-${randomBytes(3).toString('hex')}`
}
