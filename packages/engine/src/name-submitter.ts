import { hash } from 'node:crypto'
import { readLaneCaller } from './read-limiter.ts'

const HEX_DIGITS = 12

/**
 * Names a caller in what is stored. It is a hash, since a caller without a key is known by its network, which need not be
 * stored.
 */
export function nameSubmitter(caller: string): string {
  return hash('sha256', readLaneCaller(caller)).slice(0, HEX_DIGITS)
}
