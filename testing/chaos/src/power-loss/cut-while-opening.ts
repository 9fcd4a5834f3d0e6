import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { shimVariables } from './compile-shim.ts'
import { Disk } from './disk.ts'
import { readImage, writeImage } from './image-folder.ts'
import type { PoweredStore } from './powered-store.ts'
import { Random } from './random.ts'
import { readJournal } from './read-journal.ts'
import { Fate } from './surviving-changes.ts'
import { type MissingShim, withShim } from './with-shim.ts'

export interface OpeningReport {
  /** Each at another point of the first start, and each followed by a start that came up. */
  readonly cuts: number
  readonly notes: number
}

/** One start from an empty disk, cut at several points of it; what each cut leaves must open again, or it throws. */
export function cutWhileOpening(
  store: PoweredStore,
  cuts: number,
  seed: number,
): Promise<OpeningReport | MissingShim> {
  return withShim(async (folder, shimPath) => {
    const root = join(folder, 'first')
    const journal = join(folder, 'journal')
    mkdirSync(root)
    const empty = readImage(root)
    const server = await store.start({ root, variables: shimVariables(shimPath, root, journal) })
    await server.cut()
    const notes = readJournal(journal)
    const random = new Random(seed)
    for (let cut = 0; cut < cuts; cut++) {
      const disk = new Disk(root, empty, store.growth)
      for (const note of notes.slice(0, Math.floor((notes.length * (cut + 1)) / cuts))) disk.apply(note)
      const left = join(folder, `left-${cut}`)
      writeImage(left, disk.image(new Fate(random, cut)))
      await (await store.start({ root: left, variables: {} })).cut()
    }
    return { cuts, notes: notes.length }
  })
}
