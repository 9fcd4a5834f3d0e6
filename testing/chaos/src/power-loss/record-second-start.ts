import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compileShim, type Shim, shimVariables } from './compile-shim.ts'
import type { PoweredStore } from './powered-store.ts'
import { type Note, readJournal } from './read-journal.ts'

/** Starts a server whose files an earlier one has left when it was killed, and returns what it does with them until it is ready. */
export async function recordSecondStart(
  store: PoweredStore,
): Promise<readonly Pick<Note, 'type' | 'path'>[] | (Shim & { readonly type: 'missing' })> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'counterstep-power-loss-')))
  try {
    const shim = await compileShim(folder)
    if (shim.type === 'missing') return shim
    const root = join(folder, 'disk')
    const journal = join(folder, 'journal')
    mkdirSync(root)
    await (await store.start({ root, variables: {} })).cut()
    await (await store.start({ root, variables: shimVariables(shim.path, root, journal) })).cut()
    return readJournal(journal).map(({ type, path }) => ({ type, path }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
