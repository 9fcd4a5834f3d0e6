import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import type { BranchService } from '../servers/several-nodes/branch-service.ts'
import { submit } from '../servers/several-nodes/node-client.ts'
import { NodeProcess } from '../servers/several-nodes/node-process.ts'
import { serialSaga } from '../servers/several-nodes/saga-requests.ts'

const CHECKPOINT_MS = 60_000

export interface StoredSaga {
  readonly format: number
  readonly definition: string
  /** The progress, with a 0 for each instant and each duration. */
  readonly progress: string
  readonly writes: number
}

/** Each write of a row leaves a line in the same database transaction. */
const JOURNAL = `
  CREATE TABLE journal (seq INTEGER PRIMARY KEY);
  CREATE TRIGGER journal_insert AFTER INSERT ON transactions BEGIN INSERT INTO journal VALUES (NULL); END;
  CREATE TRIGGER journal_update AFTER UPDATE ON transactions BEGIN INSERT INTO journal VALUES (NULL); END`

/** Runs one saga without values, waits and roles on a file of its own, and reads what its row has become. */
export async function storeSaga(
  folder: string,
  branches: BranchService,
  program?: string,
): Promise<StoredSaga> {
  const path = join(folder, 'counterstep.db')
  // A slow machine would save on the way, which is a write more.
  const flags = { store: `sqlite:${path}`, 'checkpoint-ms': CHECKPOINT_MS }
  const maker = await NodeProcess.start(flags, { program })
  await maker.stop()
  withDatabase(path, (database) => database.exec(JOURNAL))
  const node = await NodeProcess.start(flags, { program })
  const answer = await submit(node.url, serialSaga('plain', branches.url, 3), { waitSeconds: 20 })
  expect(answer).toMatchObject({ view: { status: 'succeeded' } })
  await node.stop()
  return withDatabase(path, (database) => {
    const row = database.prepare('SELECT format, definition, progress FROM transactions').get()
    const { writes } = database.prepare('SELECT count(*) AS writes FROM journal').get() ?? {}
    const { format, definition, progress } = row as unknown as Omit<StoredSaga, 'writes'>
    return {
      format,
      // Who submitted it is newer, and older code leaves that alone.
      definition: definition.replace(/,"submitter":"[0-9a-f]{12}"(?=}$)/, ''),
      progress: progress.replaceAll(/(At|Ms)":\d+/g, '$1":0'),
      writes: Number(writes),
    }
  })
}

function withDatabase<Result>(path: string, use: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(path)
  try {
    return use(database)
  } finally {
    database.close()
  }
}
