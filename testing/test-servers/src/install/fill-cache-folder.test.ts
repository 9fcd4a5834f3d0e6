import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fillCacheFolder } from './fill-cache-folder.ts'

let parent = ''
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'counterstep-cache-'))
})
afterEach(() => rm(parent, { recursive: true, force: true }))

it('A folder of the cache is made once, with the folder above it, and may be a part of what was filled', async () => {
  const folder = join(parent, 'not', 'there', 'yet')
  let fills = 0
  const fill = async (partial: string) => {
    fills += 1
    await mkdir(join(partial, 'part'))
    await writeFile(join(partial, 'part', 'file'), '')
    return join(partial, 'part')
  }
  for (const _time of [1, 2]) await fillCacheFolder(folder, fill)
  expect(await readdir(folder)).toEqual(['file'])
  expect(await readdir(join(folder, '..'))).toEqual(['yet'])
  expect(fills).toBe(1)
})

it.runIf(process.platform === 'linux')(
  'A folder of the cache that is not filled is not there, and nothing of this or an earlier try stays',
  async () => {
    const folder = join(parent, 'server')
    await mkdir(`${folder}.partial-killed`)
    const filling = fillCacheFolder(folder, async () => {
      throw new Error('no route')
    })
    await expect(filling).rejects.toThrow('no route')
    expect([existsSync(folder), await readdir(parent)]).toEqual([false, []])
  },
)
