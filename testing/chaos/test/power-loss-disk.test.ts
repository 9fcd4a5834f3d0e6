import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compileShim, type Shim, shimVariables } from '../src/power-loss/compile-shim.ts'
import { Disk, type Growth, type Image } from '../src/power-loss/disk.ts'
import { readImage } from '../src/power-loss/image-folder.ts'
import { Random } from '../src/power-loss/random.ts'
import { type Note, readJournal } from '../src/power-loss/read-journal.ts'
import { Fate } from '../src/power-loss/surviving-changes.ts'

const ROOT = '/disk'
const EMPTY: Image = { folders: [], files: new Map() }
/** These are the cuts in which nothing, half and all of what was not synced is kept. */
const NOTHING = 0
const HALF = 1
const ALL = 2

type Step = Pick<Note, 'type'> & Partial<Omit<Note, 'type'>>

describe('a disk after a cut', () => {
  it('A file whose name was never synced may be gone after a cut, even if its content was synced', () => {
    const disk = diskAfter([created('a'), written('a', 0, 'x'), ...synced('a', 1n)])
    expect([...disk.image(fate(NOTHING)).files]).toEqual([])
    expect(text(disk.image(fate(ALL)), 'a')).toBe('x')
  })

  it('A disk after a cut has what was written before a sync began, and not what came after it', () => {
    const steps: Step[] = [
      ...durable('a', 'old'),
      written('a', 0, 'new'),
      begun('a', 5n),
      written('a', 3, '+'),
      ended(5n),
    ]
    expect(text(diskAfter(steps).image(fate(NOTHING)), 'a')).toBe('new')
  })

  it('A write whose sync did not end may be lost in a cut', () => {
    const steps: Step[] = [...durable('a', 'old'), written('a', 0, 'new'), begun('a', 5n)]
    expect(text(diskAfter(steps).image(fate(NOTHING)), 'a')).toBe('old')
    expect(text(diskAfter(steps).image(fate(ALL)), 'a')).toBe('new')
  })

  it('A renamed file is there after a cut, under one of its two names', () => {
    const steps: Step[] = [...durable('a', 'x'), { type: 'rename', path: 'a', other: 'b' }]
    expect([...diskAfter(steps).image(fate(NOTHING)).files.keys()]).toEqual(['a'])
    expect([...diskAfter(steps).image(fate(ALL)).files.keys()]).toEqual(['b'])
  })

  it('Later sectors may be there after a cut without earlier ones, unless the file grows in order', () => {
    const steps: Step[] = [...durable('a', ''), written('a', 0, 'y'.repeat(40 * 512))]
    const holes = (growth: Growth) =>
      Array.from({ length: 40 }, (_, seed) => text(diskAfter(steps, growth).image(fate(HALF, seed)), 'a'))
    expect(holes('any').some((content) => content.includes('\0'))).toBe(true)
    expect(holes('in-order').some((content) => content.includes('\0'))).toBe(false)
    expect(new Set(holes('in-order').map(({ length }) => length)).size).toBeGreaterThan(2)
  })

  it('A disk that lies keeps nothing more of what is synced', () => {
    const disk = diskAfter(durable('a', 'old'))
    disk.lie()
    for (const step of [written('a', 0, 'new'), ...synced('a', 9n)]) disk.apply(toNote(step))
    expect(text(disk.image(fate(NOTHING)), 'a')).toBe('old')
  })

  it('A write through memory leaves no note, and is an error', () => {
    expect(() => diskAfter([created('a'), { type: 'mapped', path: 'a' }])).toThrow(/leaves no notes/)
  })
})

const WRITER = `
import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, renameSync, rmSync, truncateSync, writeFileSync,
  writeSync, writevSync, appendFileSync } from 'node:fs'
process.chdir(process.argv[1])
mkdirSync('folder')
const a = openSync('folder/a', 'w')
writeSync(a, 'hello '); writeSync(a, 'world'); writeSync(a, 'J', 0); writevSync(a, [Buffer.from('!'), Buffer.from('?')], 11)
fsyncSync(a); ftruncateSync(a, 12); closeSync(a)
writeFileSync('b', 'short'); appendFileSync('b', ' and long'); truncateSync('b', 9)
writeFileSync('c', 'c'); renameSync('c', 'folder/d'); writeFileSync('e', 'e'); rmSync('e'); writeFileSync('b2', 'x')
writeFileSync('b2', 'again')
const folder = openSync('.', 'r'); fsyncSync(folder); closeSync(folder)
`

describe('the recorder of writes', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'counterstep-recorder-')))
  let shim: Shim

  beforeAll(async () => {
    shim = await compileShim(folder)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('The recorder notes all that a process writes, so that with every note the disk is as it really is', (context) => {
    if (shim.type === 'missing') return context.skip(shim.reason)
    const root = join(folder, 'disk')
    const journal = join(folder, 'journal')
    mkdirSync(root)
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', WRITER, root], {
      env: { ...process.env, ...shimVariables(shim.path, root, journal) },
      encoding: 'utf8',
    })
    expect(run.stderr).toBe('')
    const disk = new Disk(root, EMPTY, 'any')
    for (const note of readJournal(journal)) disk.apply(note)
    const image = disk.image(fate(ALL))
    const real = readImage(root)
    expect(image.folders.filter((path) => path !== '')).toEqual(real.folders)
    expect(contents(image)).toEqual(contents(real))
    expect(contents(image)).toMatchObject({ 'folder/a': 'Jello world!', b: 'short and', b2: 'again' })
    // The names of the first level were synced. The rename is certain only with the folder that it leads to.
    expect([...disk.image(fate(NOTHING)).files.keys()].sort()).toEqual(['b', 'b2', 'c'])
  })
})

function diskAfter(steps: readonly Step[], growth: Growth = 'any'): Disk {
  const disk = new Disk(ROOT, EMPTY, growth)
  for (const step of steps) disk.apply(toNote(step))
  return disk
}

function toNote(step: Step): Note {
  const path = step.path === undefined ? ROOT : `${ROOT}/${step.path}`
  const other = step.other === undefined ? '' : `${ROOT}/${step.other}`
  return { number: 0n, data: Buffer.alloc(0), endsAt: 0, ...step, path, other }
}

function created(path: string): Step {
  return { type: 'create', path }
}

function written(path: string, offset: number, data: string): Step {
  return { type: 'write', path, number: BigInt(offset), data: Buffer.from(data) }
}

function begun(path: string | undefined, number: bigint): Step {
  return path === undefined ? { type: 'sync-begin', number } : { type: 'sync-begin', path, number }
}

function ended(number: bigint): Step {
  return { type: 'sync-end', number }
}

function synced(path: string | undefined, number: bigint): Step[] {
  return [begun(path, number), ended(number)]
}

function durable(path: string, content: string): Step[] {
  return [created(path), written(path, 0, content), ...synced(path, 1n), ...synced(undefined, 2n)]
}

function fate(cut: number, seed = 1): Fate {
  return new Fate(new Random(seed), cut)
}

function text(image: Image, path: string): string {
  return image.files.get(path)?.toString() ?? ''
}

function contents({ files }: Image): Record<string, string> {
  return Object.fromEntries([...files].map(([path, content]) => [path, content.toString()]))
}
