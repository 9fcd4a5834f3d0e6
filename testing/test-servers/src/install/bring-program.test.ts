import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bringProgram } from './bring-program.ts'
import type { Machine } from './machine.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterstep-bring-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const put = (name: string) => writeFileSync(join(folder, name), '#!/bin/sh\n', { mode: 0o755 })

/** Makes a Debian whose apt-get answers as the test wants. */
function debian(isRoot: boolean, aptGet: (words: readonly string[]) => number): Machine {
  return {
    isRoot,
    mayInstall: true,
    release: { ID: 'debian' },
    aptSources: [],
    debianKeys: undefined,
    tell: () => undefined,
    run: async (_command, args) => ({ code: aptGet(args), output: 'E: nothing\nE: no such package' }),
  }
}

describe('a program of others', () => {
  it('A program is taken as it is found', async () => {
    put('wrk')
    const none = debian(true, () => expect.fail('nothing is to be installed'))
    expect(await bringProgram('wrk', [folder], none)).toEqual({ type: 'found', path: join(folder, 'wrk') })
  })

  it('A program is installed where it is missing', async () => {
    const machine = debian(true, (words) => {
      if (words.includes('install') && words.includes('sysbench')) put('sysbench')
      return 0
    })
    const path = join(folder, 'sysbench')
    expect(await bringProgram('sysbench', [folder], machine)).toEqual({ type: 'found', path })
  })

  it.each([
    ['a user may not install', debian(false, () => 0), 'not found, and only root can install it'],
    ['apt-get fails', debian(true, () => 100), 'apt-get install wrk failed: E: nothing E: no such package'],
    ['its package brings none', debian(true, () => 0), 'its package is installed, and yet it is not found'],
  ])('A program is missing for the reason that %s', async (_what, machine, why) => {
    expect(await bringProgram('wrk', [folder], machine)).toEqual({
      type: 'missing',
      reason: `no wrk here: ${why} (Debian, Ubuntu: apt-get install wrk)`,
    })
  })
})
