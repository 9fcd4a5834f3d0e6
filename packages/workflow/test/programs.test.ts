import { describe, expect, it } from 'vitest'
import { play, type World } from './orchestrator.ts'
import { ROWS } from './programs.ts'
import { program } from './write-program.ts'

/** Faults that a workflow may meet without doing anything else. */
const FAULTS: readonly { readonly title: string; readonly world: World }[] = [
  { title: 'without grants', world: { grants: 0 } },
  { title: 'each plan asked three times', world: { grants: 0, asks: 3 } },
  { title: 'grants', world: { grants: 8 } },
  { title: 'grants, each plan asked three times', world: { grants: 8, asks: 3 } },
  { title: 'grants of one slot', world: { grants: 1 } },
  { title: 'the time over after one step', world: { grants: 8, inlineMax: [1] } },
  { title: 'less time for each other attempt', world: { grants: 8, asks: 2, inlineMax: [99, 1] } },
  ...[1, 2, 3, 9].map((killAfter) => ({
    title: `the handler killed behind commit ${killAfter}`,
    world: { grants: 8, killAfter, asks: 2 },
  })),
  ...[1, 2, 3, 4].map((plan) => ({
    title: `plan ${plan} lost with its node`,
    world: { grants: 0, lostPlans: new Set([plan]) },
  })),
]

describe.each(ROWS)('$title', (row) => {
  it.each(FAULTS)('$title', async ({ world }) => {
    const ended = await play([program(row.run)], { ...row.world, ...world })
    // While a node is away a wait may end that would have been dropped.
    const journal = world.lostPlans === undefined ? ended.journal : ended.journal.slice(0, row.journal.length)
    expect(journal).toEqual(row.journal)
    expect(ended.end).toEqual(row.end)
    expect(new Set(ended.effects).size).toBe(ended.effects.length)
  })

  it('takes so many plans', async () => {
    const [plain, granted] = [
      await play([program(row.run)], row.world),
      await play([program(row.run)], { ...row.world, grants: 8 }),
    ]
    if (row.plans !== undefined) expect(plain.plans).toBe(row.plans)
    if (row.grantedPlans !== undefined) expect(granted.plans).toBe(row.grantedPlans)
  })

  it('does the same without a barrier, step by step', async () => {
    const ended = await play([program(row.run, { hasBarrier: false })], { ...row.world, grants: 8 })
    expect(ended.journal).toEqual(row.journal)
    expect(ended.end).toEqual(row.end)
  })
})
