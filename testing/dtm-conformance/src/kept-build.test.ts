import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { keptBuild } from './kept-build.ts'

let home = ''
let sources = ''
let builds = 0

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'counterstep-kept-build-'))
  sources = join(home, 'sources')
  await mkdir(join(sources, 'inner'), { recursive: true })
  await writeFile(join(sources, 'main'), 'one')
  await writeFile(join(sources, 'inner', 'part'), 'two')
  builds = 0
})
afterEach(() => rm(home, { recursive: true }))

const build = async (folder: string) => {
  builds += 1
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'program'), `build ${builds}`)
}

async function buildProgram(files?: readonly string[]): Promise<string> {
  const given = { sources, keptIn: join(home, 'kept'), ...(files === undefined ? {} : { files }) }
  return await readFile(join(await keptBuild(given, build), 'program'), 'utf8')
}

it('A program is built once', async () => {
  expect(await buildProgram()).toBe('build 1')
  expect(await buildProgram()).toBe('build 1')
})

it.each(['main', 'inner/part'])('A program is built again when %s has changed', async (file) => {
  await buildProgram()
  await writeFile(join(sources, file), 'changed')
  expect(await buildProgram()).toBe('build 2')
})

it('A program is built again when a file is new', async () => {
  await buildProgram()
  await writeFile(join(sources, 'more'), '')
  expect(await buildProgram()).toBe('build 2')
})

it('A program is not built again for a file that is not named', async () => {
  await buildProgram(['main'])
  await writeFile(join(sources, 'inner', 'part'), 'changed')
  expect(await buildProgram(['main'])).toBe('build 1')
})

it('A build that failed on the way leaves nothing, and is begun anew', async () => {
  const keptIn = join(home, 'kept')
  const failing = async (folder: string) => {
    await build(folder)
    throw new Error('cut off')
  }
  await expect(keptBuild({ sources, keptIn }, failing)).rejects.toThrow('cut off')
  expect(await readdir(keptIn)).toEqual([])
  expect(await buildProgram()).toBe('build 2')
})

it('A build that another run has made meanwhile is taken', async () => {
  const keptIn = join(home, 'kept')
  const late = async (folder: string) => {
    await build(folder)
    await keptBuild({ sources, keptIn }, build)
  }
  const folder = await keptBuild({ sources, keptIn }, late)
  expect(await readFile(join(folder, 'program'), 'utf8')).toBe('build 2')
  expect(await readdir(keptIn)).toHaveLength(1)
})
