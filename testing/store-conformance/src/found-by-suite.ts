import assert from 'node:assert/strict'
import { MARKS, type StoredTransaction, type Tags } from '@counterstep/core'
import {
  NAME_LENGTH_MAX,
  PROBLEM_LENGTH_MAX,
  TAG_KEY_LENGTH_MAX,
  TAG_VALUE_LENGTH_MAX,
  TAGS_MAX,
} from '@counterstep/protocol'
import type { DefineTest } from './store-fixture.ts'
import {
  aDueTransaction,
  aTransaction,
  BRIEF_LEASE_MS,
  claimRow,
  createRow,
  drawTokens,
  FORMAT,
  makeUpdate,
  read,
  saveRow,
} from './transactions.ts'

const NAME_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/-'
const KEY_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789_.-'
/** All visible characters of ASCII. */
const VALUE_CHARACTERS = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join('')
const LONGEST: Tags = Object.fromEntries(
  Array.from({ length: TAGS_MAX }, (_, i) => [
    `${'k'.repeat(TAG_KEY_LENGTH_MAX - 1)}${i}`,
    'v'.repeat(TAG_VALUE_LENGTH_MAX),
  ]),
)
const TROUBLE = { problem: '– record-unreadable', attempts: 52, marks: ['paused', 'edited'] } as const

/** The columns by which a list finds a row. */
export function foundBySuite(test: DefineTest): void {
  test('A row has the name and the tags that it was created with, whatever their characters are', async (store) => {
    const halves = [VALUE_CHARACTERS.slice(0, 47), VALUE_CHARACTERS.slice(47)]
    const given: readonly { readonly name: string; readonly tags: Tags }[] = [
      { name: NAME_CHARACTERS.slice(0, NAME_LENGTH_MAX), tags: { region: 'eu', a: '1' } },
      { name: NAME_CHARACTERS.slice(-NAME_LENGTH_MAX), tags: { a: halves[0] ?? '', b: halves[1] ?? '' } },
      { name: 'x'.repeat(NAME_LENGTH_MAX), tags: LONGEST },
      {
        name: '-',
        tags: { [`a${KEY_CHARACTERS.slice(0, 20)}`]: ':', [`a${KEY_CHARACTERS.slice(-20)}`]: '::' },
      },
    ]
    for (const [i, columns] of given.entries()) {
      const row = await createRow(store, aTransaction(`t-${i}`, columns))
      assert.deepEqual({ name: row.name, tags: row.tags }, columns)
    }
    for (const { gid, name, tags } of (await store.list({ limit: 10 })).items)
      assert.deepEqual({ name, tags }, given[Number(gid.slice(2))])
  })

  test('A row without name and tags has neither, and tags without an entry are none', async (store) => {
    for (const tags of [undefined, {}]) {
      const row = await createRow(store, aTransaction(`t-${tags}`, tags === undefined ? {} : { tags }))
      for (const field of ['name', 'tags', 'problem', 'attempts', 'marks']) assert.ok(!(field in row), field)
    }
  })

  test('An update writes the trouble, and the next one that has none clears it', async (store) => {
    const row = await createRow(store, aTransaction('a', { name: 'transfer', tags: { region: 'eu' } }))
    const troubled = await saveRow(store, makeUpdate(row, { type: 'keep' }, TROUBLE))
    assertTrouble(troubled, TROUBLE)
    const others = { problem: 'x'.repeat(PROBLEM_LENGTH_MAX), attempts: 1_000_000, marks: MARKS }
    assertTrouble(await saveRow(store, makeUpdate(troubled, { type: 'keep' }, others)), others)
    const half = await saveRow(
      store,
      makeUpdate(await read(store, 'a'), { type: 'keep' }, { problem: 'y 1' }),
    )
    assertTrouble(half, { problem: 'y 1' })
    const mended = await saveRow(store, makeUpdate(half, { type: 'keep' }, { attempts: 0, marks: [] }))
    assertTrouble(mended, {})
    assert.deepEqual([mended.name, mended.tags], ['transfer', { region: 'eu' }])
  })

  test('Every hold of an update writes the trouble, and a refused update leaves it', async (store, fixture) => {
    const holds = [
      { type: 'keep' },
      { type: 'release', dueAt: (await store.stats()).now + 60_000 },
      { type: 'command' },
      { type: 'finish', retentionMs: fixture.retentionMs * 60 },
    ] as const
    for (const hold of holds) {
      const row = await createRow(store, aTransaction(hold.type))
      const marks = ['by-hand'] as const
      assertTrouble(await saveRow(store, makeUpdate(row, hold, { marks })), { marks })
      const late = await store.update(makeUpdate(row, hold, TROUBLE))
      assert.equal(late.type, 'conflict')
      assertTrouble(await read(store, hold.type), { marks })
    }
  })

  test('A mark is read in the order of the contract, however it was given', async (store) => {
    const row = await createRow(store, aTransaction('a'))
    const saved = await saveRow(store, makeUpdate(row, { type: 'keep' }, { marks: ['edited', 'paused'] }))
    assert.deepEqual(saved.marks, ['paused', 'edited'])
  })

  test('A claim, a renewal and a postponement leave all of it', async (store, fixture) => {
    const columns = { name: 'transfer', tags: { region: 'eu' } }
    const row = await createRow(store, aDueTransaction('a', columns))
    const { dueAt } = row
    await saveRow(store, makeUpdate(row, { type: 'release', dueAt }, TROUBLE))
    const claimed = await claimRow(store, 'a', BRIEF_LEASE_MS)
    assertTrouble(claimed, TROUBLE)
    assert.deepEqual([claimed.name, claimed.tags], ['transfer', { region: 'eu' }])
    await store.renew([claimed], BRIEF_LEASE_MS)
    await fixture.pass(store, BRIEF_LEASE_MS)
    await store.postponeDue({ limit: 1, byMs: 1, formatMax: FORMAT })
    await fixture.pass(store, 1)
    const [due] = (
      await store.claimDue({ limit: 1, leaseMs: 10_000, tokens: drawTokens(1), formatMax: FORMAT })
    ).claimed
    assert.ok(due !== undefined)
    assertTrouble(due, TROUBLE)
    assert.deepEqual(due, await read(store, 'a'))
  })
}

function assertTrouble(
  { problem, attempts, marks }: StoredTransaction,
  expected: Partial<Pick<StoredTransaction, 'problem' | 'attempts' | 'marks'>>,
): void {
  const found = {
    ...(problem !== undefined && { problem }),
    ...(attempts !== undefined && { attempts }),
    ...(marks !== undefined && { marks }),
  }
  assert.deepEqual(found, expected)
}
