import { hash } from 'node:crypto'

/** SHA-256 without salt or rounds: what is hashed is 256 random bits, which nobody guesses. */
export function secretDigest(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
