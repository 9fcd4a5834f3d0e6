import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { SecretWatch } from '@counterstep/test-servers/secret-watch'

/** All that the processes of a run have printed, of all their lives. */
export async function watchLogs(logFolder: string, watch: SecretWatch): Promise<void> {
  for (const name of await readdir(logFolder)) {
    const log = createReadStream(join(logFolder, name), 'latin1')
    for await (const text of log) watch.hear(name, String(text))
  }
}
