import { expect, it } from 'vitest'
import { type StoredKey, toKeyTable } from '../src/index.ts'

const digest = Buffer.alloc(32, 0xab)
const key = (name: string, more: Partial<StoredKey> = {}): StoredKey => ({
  id: `id-of-${name}`,
  name,
  digest,
  scopes: ['read', 'operate'],
  createdAt: 1_000,
  expiresAt: null,
  ...more,
})

it('The table of keys says who may do what until when, and has nothing of a secret', () => {
  const table = toKeyTable([key('ops'), key('app', { scopes: ['submit'], expiresAt: 5_000 })], 5_000)
  expect(table.rows).toEqual([
    ['id-of-app', 'app', 'submit', 1_000, 5_000, 'expired'],
    ['id-of-ops', 'ops', 'read, operate', 1_000, 'never', 'good'],
  ])
  expect(JSON.stringify(table)).not.toMatch(/ab{8}|digest|secret/i)
})
