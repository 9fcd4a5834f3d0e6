import { createKey, isActive, openKeyFile, revokeKey, type StoredKey } from '@counterstep/access'
import type { KeysCommand } from './keys-command.ts'

const DAY_MS = 24 * 3_600_000

export interface KeysAnswer {
  /** For a new key it holds the key alone, so that it can go into a variable or a secret. */
  readonly stdout: string
  readonly stderr: string
}

const HELP = `counterstep keys create --keys-file FILE --name NAME --scopes SCOPE,… [--expires-in-days N]
counterstep keys list --keys-file FILE
counterstep keys revoke ID --keys-file FILE

The file of API keys for counterstep serve --keys-file; COUNTERSTEP_KEYS_FILE names it as well. A new key is
printed once: the file has only its SHA-256. Running servers take a change within a second.

  Scopes: submit (submit, register, abort), read (look, list, metrics, docs), payloads (see what may hold
  secrets), signal (give a signal that a saga waits for), operate (retry, pause, resume, abort), admin
  (retry, abort, stop, and what overrides the answer of a service).
  None includes another. A name may have two active keys, the old and the new one, to change over.
`

/** Runs `counterstep keys`. Throws SAGA_KEYS_UNUSABLE. */
export async function runKeys(command: KeysCommand, nowMs: number): Promise<KeysAnswer> {
  switch (command.verb) {
    case 'help':
      return { stdout: HELP, stderr: '' }
    case 'create': {
      const { path, name, scopes, expiresInDays } = command
      const expiresAt = expiresInDays === null ? null : nowMs + expiresInDays * DAY_MS
      const { key, stored } = await createKey(path, { name, scopes, createdAt: nowMs, expiresAt })
      return {
        stdout: `${key}\n`,
        stderr: `counterstep: ${describeKey(stored, nowMs)}; it is shown this once\n`,
      }
    }
    case 'revoke':
      await revokeKey(command.path, command.id)
      return { stdout: '', stderr: `counterstep: ${command.id} is revoked\n` }
    case 'list': {
      const { keys } = await openKeyFile(command.path)
      return { stdout: [...keys.values()].map((key) => `${describeKey(key, nowMs)}\n`).join(''), stderr: '' }
    }
  }
}

function describeKey(key: StoredKey, nowMs: number): string {
  const { id, name, scopes, createdAt, expiresAt } = key
  const end = expiresAt === null ? 'does not expire' : `expires ${toIso(expiresAt)}`
  return `${id} ${name} ${scopes.join(',')} created ${toIso(createdAt)} ${isActive(key, nowMs) ? end : 'EXPIRED'}`
}

function toIso(atMs: number): string {
  return new Date(atMs).toISOString()
}
