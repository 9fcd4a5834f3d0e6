import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey, KeyRing, SCOPES, type Scope } from '@counterstep/access'

export interface ScopeKeys extends AsyncDisposable {
  readonly ring: KeyRing
  /** Each key has this scope alone. */
  readonly keys: Readonly<Record<Scope, string>>
}

/** Makes a real file with one key for each scope, and opens it as a server would. */
export async function openScopeKeys(): Promise<ScopeKeys> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-scopes-'))
  const path = join(folder, 'keys.json')
  const made: [Scope, string][] = []
  for (const scope of SCOPES) {
    const { key } = await createKey(path, { name: scope, scopes: [scope], createdAt: 0, expiresAt: null })
    made.push([scope, key])
  }
  const ring = await KeyRing.open(path, { onRead: () => undefined, onBroken: () => undefined })
  return {
    ring,
    keys: Object.fromEntries(made) as Record<Scope, string>,
    async [Symbol.asyncDispose]() {
      ring.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
