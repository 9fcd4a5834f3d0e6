import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeConformance } from '@counterstep/store-conformance'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { openSqliteStore } from '../src/open-sqlite-store.ts'

const folder = await mkdtemp(join(tmpdir(), 'counterstep-'))
afterAll(() => rm(folder, { recursive: true }))

for (const driver of ['better-sqlite3', 'node'] as const) {
  storeConformance({
    runner: { describe, it, before: beforeAll, after: afterAll },
    name: `sqlite over ${driver}`,
    open: ({ now, place }) => openSqliteStore({ path: join(folder, `${driver}-${place}.db`), driver, now }),
  })
}
