import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const MODULE = new URL('../src/compile-cache.ts', import.meta.url).href

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterstep-home-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Runs in a process of its own, whose cache is not on yet. */
function keepCompiledIn(home: string): string {
  const file = join(folder, 'keep.mjs')
  writeFileSync(file, `console.log((await import(${JSON.stringify(MODULE)})).keepCompiled())`)
  const { NODE_COMPILE_CACHE: _, ...environment } = process.env
  const { stdout, stderr } = spawnSync(process.execPath, [file], {
    env: { ...environment, HOME: home },
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  return stdout.trim()
}

it('Compiled code is kept below the home folder of this user', () => {
  expect(keepCompiledIn(folder)).toBe('true')
  expect(existsSync(join(folder, '.cache', 'counterstep'))).toBe(true)
})

it('Compiled code is kept nowhere, and the start goes on, where there is no such folder', () => {
  expect(keepCompiledIn(join(folder, 'missing'))).toBe('false')
  writeFileSync(join(folder, '.cache'), 'a file')
  expect(keepCompiledIn(folder)).toBe('false')
})

it.runIf(process.platform === 'linux')('Compiled code is never taken from the folder of another user', () => {
  const isRoot = process.getuid?.() === 0
  // For every user but root, the home folder of root belongs to another user.
  const home = isRoot ? folder : '/'
  if (isRoot) {
    chmodSync(folder, 0o755)
    expect(spawnSync('chown', ['65534', folder]).status).toBe(0)
  }
  expect(keepCompiledIn(home)).toBe('false')
  expect(existsSync(join(home, '.cache'))).toBe(false)
})

it.skipIf(process.platform === 'win32').each([
  ['', 0o777],
  ['', 0o770],
  ['.cache', 0o777],
  ['.cache/counterstep', 0o720],
])('Compiled code is never taken where others may write: ~/%s of mode %o', (path, mode) => {
  mkdirSync(join(folder, '.cache', 'counterstep'), { recursive: true, mode: 0o700 })
  chmodSync(join(folder, path), mode)
  expect(keepCompiledIn(folder)).toBe('false')
  chmodSync(join(folder, path), 0o755)
  expect(keepCompiledIn(folder)).toBe('true')
})
