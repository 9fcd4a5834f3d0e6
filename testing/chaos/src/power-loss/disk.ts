import { dirname } from 'node:path'
import { endOfTail } from './end-of-tail.ts'
import { FileBytes } from './file-bytes.ts'
import type { Note } from './read-journal.ts'
import { type Change, type Fate, surviving } from './surviving-changes.ts'

interface File {
  readonly type: 'file'
  readonly synced: FileBytes
  /** Made since, each of which the disk may have or not. */
  changes: Change[]
  /** Changes that were synced: so many stand before the first of `changes`. */
  settled: number
}

interface Folder {
  readonly type: 'folder'
  changes: NameChange[]
  settled: number
}

/** The names that change in one step: a new one, one less, or both in a rename. */
type NameChange = readonly (readonly [path: string, node: File | Folder | undefined])[]
type Names = Map<string, File | Folder>

interface Sync {
  readonly node: File | Folder
  readonly upTo: number
}

/**
 * The promise of a file system about a file that grows. `in-order`: its length never reaches over bytes that were not
 * written, as with ext4 and data=ordered. `any`: later bytes may be there without earlier ones, which read as zeros.
 */
export type Growth = 'any' | 'in-order'

/** A state in which a cut may leave the disk: paths below the root. */
export interface Image {
  readonly folders: readonly string[]
  readonly files: ReadonlyMap<string, Buffer>
}

/**
 * A disk that has for certain only what was synced: a file's content by the sync of the file, its name by the sync of
 * its folder, as POSIX says. Any part of everything later may be there. The names of one folder survive in their order,
 * the first ones first, since journalling file systems keep it.
 */
export class Disk {
  readonly #root: string
  readonly #growth: Growth
  readonly #durableNames: Names = new Map()
  readonly #names: Names = new Map()
  readonly #syncs = new Map<bigint, Sync>()
  #isLying = false

  /** `image` is there for certain. */
  constructor(root: string, image: Image, growth: Growth) {
    this.#root = root
    this.#growth = growth
    this.#put('', newFolder())
    for (const folder of image.folders) this.#put(folder, newFolder())
    for (const [path, content] of image.files) this.#put(path, newFile(content))
  }

  /** Makes the disk say that it has synced when it has not. */
  lie(): void {
    this.#isLying = true
  }

  apply(note: Note): void {
    const path = this.#below(note.path)
    switch (note.type) {
      case 'create':
        this.#rename([[path, newFile()]])
        break
      case 'mkdir':
        this.#rename([[path, newFolder()]])
        break
      case 'unlink':
        this.#rename([[path, undefined]])
        break
      case 'rename':
        this.#renameTo(path, this.#below(note.other))
        break
      case 'write':
        this.#change(path, { type: 'write', offset: Number(note.number), data: note.data })
        break
      case 'truncate':
        this.#change(path, { type: 'truncate', length: Number(note.number) })
        break
      case 'content':
        this.#change(path, { type: 'truncate', length: 0 })
        this.#change(path, { type: 'write', offset: 0, data: note.data })
        break
      case 'sync-begin':
        this.#beginSync(path, note.number)
        break
      case 'sync-end':
        this.#endSync(note.number)
        break
      case 'sync-failed':
        this.#failSync(path)
        break
      case 'mapped':
        // The index of SQLite's log is made anew at each open; the store does not even have one.
        if (path.endsWith('-shm')) break
        throw new Error(`${path} is written through memory, which leaves no notes`)
      case 'unsupported':
        throw new Error(`${path} was written in a way that leaves no notes`)
    }
  }

  /** Changes that are not certain to be there. */
  get unsettled(): number {
    return [...this.#names.values()].reduce((sum, { changes }) => sum + changes.length, 0)
  }

  image(fate: Fate): Image {
    const names: Names = new Map(this.#durableNames)
    // The names are sorted, so that a seed means the same in any order of the notes of several threads.
    for (const [, node] of [...this.#names].sort(byPath)) {
      if (node.type !== 'folder') continue
      for (const change of node.changes.slice(0, fate.upTo(node.changes.length))) setNames(names, change)
    }
    const folders: string[] = []
    const files = new Map<string, Buffer>()
    for (const [path, node] of [...names].sort(byPath)) {
      if (!hasItsFolders(path, names)) continue
      if (node.type === 'folder') folders.push(path)
      else files.set(path, makeContent(node, fate, this.#growth))
    }
    return { folders, files }
  }

  #put(path: string, node: File | Folder): void {
    this.#durableNames.set(path, node)
    this.#names.set(path, node)
  }

  #below(path: string): string {
    if (path !== this.#root && !path.startsWith(`${this.#root}/`)) return path
    return path.slice(this.#root.length + 1)
  }

  /** Certain with the sync of the folder that the last name is in. */
  #rename(change: NameChange): void {
    const [path] = change.at(-1) ?? ['']
    const folder = this.#names.get(toFolder(path))
    if (folder?.type !== 'folder') throw new Error(`${path} is in no known folder`)
    folder.changes.push(change)
    setNames(this.#names, change)
  }

  #renameTo(from: string, to: string): void {
    const node = this.#names.get(from)
    if (node?.type !== 'file') throw new Error(`${from} became ${to}`)
    this.#rename([
      [from, undefined],
      [to, node],
    ])
  }

  #change(path: string, change: Change): void {
    const file = this.#names.get(path)
    if (file?.type !== 'file') throw new Error(`${path} is no known file`)
    file.changes.push(change)
  }

  #beginSync(path: string, id: bigint): void {
    const node = this.#names.get(path)
    if (node === undefined) throw new Error(`${path} is not known`)
    this.#syncs.set(id, { node, upTo: node.settled + node.changes.length })
  }

  /**
   * All that was written before never reaches the disk, and no later sync brings it there, since Linux takes it for written. The length of the file is
   * kept in the journal of the file system.
   */
  #failSync(path: string): void {
    const file = this.#names.get(path)
    if (file?.type !== 'file') throw new Error(`${path} is no known file`)
    file.settled += file.changes.length
    for (const change of file.changes.splice(0)) if (change.type === 'truncate') applyTo(file.synced, change)
  }

  /** Changes that were there when the sync began are certain now. */
  #endSync(id: bigint): void {
    const sync = this.#syncs.get(id)
    if (sync === undefined) throw new Error('a sync has ended that never began')
    this.#syncs.delete(id)
    if (this.#isLying) return
    const { node, upTo } = sync
    const count = Math.max(0, upTo - node.settled)
    node.settled += count
    if (node.type === 'folder') {
      for (const change of node.changes.splice(0, count)) setNames(this.#durableNames, change)
    } else {
      for (const change of node.changes.splice(0, count)) applyTo(node.synced, change)
    }
  }
}

function newFile(content?: Buffer): File {
  return { type: 'file', synced: new FileBytes(content), changes: [], settled: 0 }
}

function newFolder(): Folder {
  return { type: 'folder', changes: [], settled: 0 }
}

function setNames(names: Names, change: NameChange): void {
  for (const [path, node] of change) {
    if (node === undefined) names.delete(path)
    else names.set(path, node)
  }
}

function toFolder(path: string): string {
  const folder = dirname(path)
  return folder === '.' ? '' : folder
}

function hasItsFolders(path: string, names: Names): boolean {
  if (path === '') return true
  const folder = toFolder(path)
  return names.get(folder)?.type === 'folder' && hasItsFolders(folder, names)
}

function makeContent(file: File, fate: Fate, growth: Growth): Buffer {
  const bytes = new FileBytes(file.synced.content())
  const survivors = surviving(file.changes, fate)
  for (const change of survivors) applyTo(bytes, change)
  if (growth === 'in-order') bytes.truncate(Math.min(bytes.length, endOfTail(file.synced.length, survivors)))
  return bytes.content()
}

function applyTo(bytes: FileBytes, change: Change): void {
  if (change.type === 'truncate') bytes.truncate(change.length)
  else bytes.write(change.offset, change.data)
}

function byPath([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : Number(a > b)
}
