import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { proveOlderNode } from '../servers/several-nodes/older-node.ts'
import { type OlderProgram, unpackOlderProgram } from '../servers/several-nodes/older-program.ts'

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
  await proveOlderNode({ storeUrl, olderProgram: older.program, areAtOnce: false })
}, 120_000)
