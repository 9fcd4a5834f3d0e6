import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BranchService } from '../servers/several-nodes/branch-service.ts'
import { proveOlderNode } from '../servers/several-nodes/older-node.ts'
import { type OlderProgram, unpackOlderProgram } from '../servers/several-nodes/older-program.ts'
import { storeSaga } from './older-rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'counterstep-older-'))
let older: OlderProgram

beforeAll(() => {
  older = unpackOlderProgram()
})

afterAll(() => {
  if (older.type === 'here') older.remove()
  rmSync(folder, { recursive: true, force: true })
})

it('The version before values, started on a file of today, runs the rows that it can read and leaves the others', async (context) => {
  if (older.type === 'missing') return context.skip(older.reason)
  const storeUrl = `sqlite:${join(folder, 'counterstep.db')}`
  await proveOlderNode({ storeUrl, olderProgram: older.program, areAtOnce: false, hidesNamed: false })
}, 120_000)

it('A saga without values, waits and roles is stored as before they came, to the byte and to the write', async (context) => {
  if (older.type === 'missing') return context.skip(older.reason)
  const branches = await BranchService.start()
  try {
    const [before, today] = ['before', 'today'].map((name) => join(folder, name)) as [string, string]
    for (const each of [before, today]) mkdirSync(each)
    const stored = await storeSaga(before, branches, older.program)
    expect(stored).toMatchObject({ format: 1, writes: 2 })
    expect(await storeSaga(today, branches)).toEqual(stored)
  } finally {
    await branches.stop()
  }
}, 120_000)
