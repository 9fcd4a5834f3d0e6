import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { canary } from '@counterstep/test-servers/canary'

const ID = 'chaosbankrun'
/** A real secret is as long. */
const SECRET = canary('api-key').padEnd(43, '-')
const SCOPES = ['submit', 'read', 'payloads', 'signal', 'admin']
const MODE = 0o600

/** The headers of a caller that may do everything. */
export const AUTHORIZED: Readonly<Record<string, string>> = { authorization: `Bearer cs_${ID}_${SECRET}` }

/** The file that tells the servers of a run of its one key. Written here: `counterstep keys` draws its secrets itself. */
export async function writeKeyFile(folder: string): Promise<string> {
  const path = join(folder, 'keys.json')
  const key = { id: ID, name: 'chaos', scopes: SCOPES, createdAt: 0, expiresAt: null }
  const keys = [{ ...key, secretSha256: hash('sha256', SECRET) }]
  await writeFile(path, JSON.stringify({ version: 1, keys }), { mode: MODE })
  return path
}
