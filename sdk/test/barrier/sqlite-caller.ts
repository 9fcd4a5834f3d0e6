import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Op } from '@counterstep/protocol'
import { sqliteBarrier } from '../../src/barrier/sqlite.ts'

/** A second connection to a file, in a thread of its own: it makes one call for each gid, and tells the decisions. */
const { path, op, gids } = workerData as { readonly path: string; readonly op: Op; readonly gids: number }

// SQLite itself does not wait, so that every clash reaches the barrier.
const database = new DatabaseSync(path, { timeout: 0 })
const barrier = sqliteBarrier(database)
const decisions: string[] = []
for (let number = 0; number < gids; number++) {
  const gid = `shared-${number}`
  const outcome = await barrier.run({ gid, branchId: '01', op }, (tx) => {
    tx.prepare('INSERT INTO effect (gid, op) VALUES (?, ?)').run(gid, op)
  })
  decisions.push(outcome.decision)
}
database.close()
parentPort?.postMessage(decisions)
