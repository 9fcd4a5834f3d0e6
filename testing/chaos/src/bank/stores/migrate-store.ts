import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'

const MIGRATE_MS_MAX = 30_000

/** Makes the tables, as `counterstep migrate` does for its users. */
export async function migrateStore(url: string): Promise<void> {
  await promisify(execFile)(process.execPath, [COUNTERSTEP_PROGRAM, 'migrate', '--store', url], {
    timeout: MIGRATE_MS_MAX,
  })
}
