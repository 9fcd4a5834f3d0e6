import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { shimVariables } from './compile-shim.ts'
import type { PoweredStore } from './powered-store.ts'
import { type Note, readJournal } from './read-journal.ts'
import { type MissingShim, withShim } from './with-shim.ts'

/** Starts a server whose files an earlier one has left when it was killed, and returns what it does with them until it is ready. */
export function recordSecondStart(
  store: PoweredStore,
): Promise<readonly Pick<Note, 'type' | 'path'>[] | MissingShim> {
  return withShim(async (folder, shimPath) => {
    const root = join(folder, 'disk')
    const journal = join(folder, 'journal')
    mkdirSync(root)
    await (await store.start({ root, variables: {} })).cut()
    await (await store.start({ root, variables: shimVariables(shimPath, root, journal) })).cut()
    return readJournal(journal).map(({ type, path }) => ({ type, path }))
  })
}
