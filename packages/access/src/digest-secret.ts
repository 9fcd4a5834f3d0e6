import { hash } from 'node:crypto'

/** Hashes a secret with SHA-256, without salt or rounds: the secret is 256 random bits, which cannot be guessed. */
export function digestSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}
