import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const PROGRAM = join(import.meta.dirname, 'aimed-death-fixture.ts')
const UNHURT = ['committed ~1', 'committed ~2', 'committed ~3', 'answered action']

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'counterstep-aimed-death-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function serveOnce(...order: readonly string[]) {
  const file = join(folder, 'deaths.log')
  const { signal, status, stdout } = spawnSync(process.execPath, [PROGRAM, file, ...order], {
    encoding: 'utf8',
  })
  const deaths = readFileSync(file, 'utf8').trim()
  return {
    signal,
    status,
    said: stdout.trim().split('\n'),
    deaths: deaths === '' ? undefined : JSON.parse(deaths),
  }
}

it('A bank dies between two commits of a plan call, and counts neither a duplicate nor the call of one step', () => {
  expect(serveOnce('between-commits')).toEqual({
    signal: 'SIGKILL',
    status: null,
    said: [...UNHURT, 'committed ~1', 'committed ~2'],
    deaths: { point: 'between-commits', gid: 'order', slots: ['~2'] },
  })
})

it('A bank dies between its last commit and the answer of a plan call', () => {
  expect(serveOnce('before-answer', '2')).toEqual({
    signal: 'SIGKILL',
    status: null,
    said: [...UNHURT, 'committed ~1', 'committed ~2', 'committed ~3'],
    deaths: { point: 'before-answer', gid: 'order', slots: ['~2', '~3'] },
  })
})

it('A bank lives on where a plan call has too few commits, or where it has no order', () => {
  const lives = {
    signal: null,
    status: 0,
    deaths: undefined,
    said: [...UNHURT, ...UNHURT.slice(0, 3), 'answered plan'],
  }
  expect(serveOnce('between-commits', '2')).toEqual(lives)
  expect(serveOnce()).toEqual(lives)
})
