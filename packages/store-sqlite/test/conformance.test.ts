import { join } from 'node:path'
import { storeConformance } from '@counterstep/store-conformance'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { openSqliteStore } from '../src/open-sqlite-store.ts'
import { temporaryFolder } from './temporary-folder.ts'

const folder = await temporaryFolder()

storeConformance({
  runner: { describe, it, before: beforeAll, after: afterAll },
  name: 'sqlite',
  open: ({ now, place }) => openSqliteStore({ path: join(folder, `${place}.db`), now }),
})
