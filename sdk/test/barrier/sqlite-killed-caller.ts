import { DatabaseSync } from 'node:sqlite'
import type { Op } from '@counterstep/protocol'
import { sqliteBarrier } from '../../src/barrier/sqlite.ts'

/** A process that makes one call on a file, and ends itself by SIGKILL where it was told to; otherwise it prints the outcome. */
const [path = '', gid = '', op, killed] = process.argv.slice(2)
const database = new DatabaseSync(path)
const endIf = (place: string): void => {
  if (killed === place) process.kill(process.pid, 'SIGKILL')
}
const outcome = await sqliteBarrier(database).run({ gid, branchId: '01', op: op as Op }, (tx, original) => {
  const hold = tx.prepare('INSERT INTO effect (gid, op) VALUES (?, ?)').run(gid, String(op))
  endIf('in the effect')
  return { holdId: Number(hold.lastInsertRowid), original }
})
endIf('after the COMMIT')
console.log(JSON.stringify(outcome))
