import { hash } from 'node:crypto'
import { readLaneCaller } from './read-limiter.ts'

const HEX_DIGITS = 12

/**
 * Names a caller in what is stored. It is a short hash, since the name may be long. It hides nothing: the network of a caller
 * without a key can be found from it by trying.
 */
export function nameSubmitter(caller: string): string {
  return hash('sha256', readLaneCaller(caller)).slice(0, HEX_DIGITS)
}
