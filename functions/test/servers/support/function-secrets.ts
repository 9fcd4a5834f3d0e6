import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '@counterstep/access'
import { createSigningKeyText, parseSigningKey, toPublicJwk } from '@counterstep/signature'
import { canary } from '@counterstep/test-servers/canary'
import { toArn } from './secrets-manager.ts'

export interface FunctionSecrets {
  readonly byName: Readonly<Record<'password' | 'keys' | 'signing-key', string>>
  readonly variables: Readonly<Record<string, string>>
  readonly password: string
  /** Clients send this key. */
  readonly apiKey: string
  /** Another client sends this key. */
  readonly otherKey: string
  /** Services check signatures with this key. */
  readonly publicKey: string
}

/** Creates all secrets of a deployment. The password is in JSON, as RDS stores it. */
export async function createSecrets(): Promise<FunctionSecrets> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-secrets-'))
  try {
    const keysFile = join(folder, 'keys.json')
    const asked = {
      scopes: ['submit', 'read'],
      createdAt: Date.now(),
      expiresAt: null,
    } as const
    const { key: apiKey } = await createKey(keysFile, { ...asked, name: 'tests' })
    const { key: otherKey } = await createKey(keysFile, { ...asked, name: 'others' })
    const signingKey = createSigningKeyText('ed25519')
    const password = canary('store-password')
    return {
      byName: {
        password: JSON.stringify({ username: 'counterstep', password }),
        keys: await readFile(keysFile, 'utf8'),
        'signing-key': signingKey,
      },
      variables: {
        COUNTERSTEP_STORE_PASSWORD_SECRET: toArn('password'),
        COUNTERSTEP_KEYS_SECRET: toArn('keys'),
        COUNTERSTEP_SIGNING_KEY_SECRET: toArn('signing-key'),
      },
      password,
      apiKey,
      otherKey,
      publicKey: toPublicJwk(parseSigningKey(signingKey)) ?? '',
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
