import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore, type SqliteStore } from '@counterstep/store-sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { injectEverywhere, keepsTexts } from './injection-suite.ts'

const REQUESTS_MIN = 1_000
const ACCEPTED_MIN = 200

let folder = ''
let store: SqliteStore
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-injection-'))
  store = await openSqliteStore({ path: join(folder, 'a.db') })
})
afterAll(async () => {
  await store.close()
  await rm(folder, { recursive: true })
})

it('S23: SQL, objects and arrays in every text field of both HTTP APIs change nothing else (sqlite)', {
  timeout: 120_000,
}, async () => {
  const { sent, accepted } = await injectEverywhere(store)
  expect(sent).toBeGreaterThan(REQUESTS_MIN)
  expect(accepted).toBeGreaterThan(ACCEPTED_MIN)
})

it('S23: Accepted texts are delivered as they were sent (sqlite)', () => keepsTexts(store))
