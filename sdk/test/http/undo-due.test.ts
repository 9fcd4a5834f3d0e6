import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { migrateBarrier, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import { answerBranch, type Branch, parseBranch, withBarrier } from '../../src/index.ts'
import { callUrl } from '../branch/call-url.ts'

const database = new DatabaseSync(':memory:')
migrateBarrier(database)
const barrier = sqliteBarrier(database)
const DUE = { 'counterstep-undo': 'due' }
const toUrl = (gid: string, op: string) => callUrl({ gid, trans_type: 'saga', branch_id: '01', op })

it('An undo that is due is answered with 500 where no row of its action stands, and its handler does not run', async () => {
  const ran: unknown[] = []
  const handler = (_tx: DatabaseSync, branch: Branch) => void ran.push([branch.op, 'mustUndo' in branch])
  const ask = async (op: string, headers: Readonly<Record<string, string>>) =>
    (await answerBranch(barrier, handler, { url: toUrl('due', op), headers })).answer
  for (let attempt = 0; attempt < 2; attempt++) {
    const { statusCode, body = '' } = await ask('compensate', DUE)
    expect([statusCode, JSON.parse(String(body)).code]).toEqual([500, 'BARRIER_ORIGINAL_MISSING'])
  }
  expect((await ask('action', {})).statusCode).toBe(200)
  expect((await ask('compensate', DUE)).statusCode).toBe(200)
  expect(ran).toEqual([
    ['action', false],
    ['compensate', false],
  ])
})

it('An effect that passes the barrier by itself may have nothing to undo, since its action may have passed none', async () => {
  const branch = parseBranch({ url: toUrl('by-itself', 'compensate'), headers: DUE })
  expect(await withBarrier(barrier, branch, () => 1)).toBeUndefined()
  expect(await withBarrier(barrier, { ...branch, barrierId: '02' }, () => 2)).toBeUndefined()
})
