import { describe, expect, it } from 'vitest'
import { simulateWorkflows } from '../src/workflows/simulate-workflows.ts'
import { WORKFLOW_MUTANTS } from '../src/workflows/workflow-mutants.ts'

const SEEDS = 100
const MUTANT_SEEDS_MAX = 1_000

/** The invariants that each mutant may break first. An assertion of the core counts where it comes before the audit. */
const BREAKS: Readonly<Record<string, readonly string[]>> = {
  'plan-unsaved': ['I37'],
  'late-plan-counts': ['I37', 'I40', 'I41'],
  'failure-unsealed': ['I40'],
  'finish-before-seals': ['assertion', 'I40'],
  'failure-goes-on': ['I13'],
  'rank-forward': ['I12'],
  'conflict-drops-steps': ['L1', 'I37', 'I38'],
  'race-reordered': ['I38', 'L1'],
  'conflict-is-failure': ['I5'],
  'workflow-pivot-unmarked': ['I35', 'L1'],
  'grant-unsaved': ['I37', 'I39'],
  'grant-forgotten': ['assertion', 'I12', 'I40'],
  'seals-upward': ['I12'],
  'seal-before-plan-ended': ['I13'],
  'prefix-grows': ['I38'],
  'rest-unsealed': ['I40'],
  'lost-answer-goes-on': ['I39'],
  'run-then-step': ['I39'],
  'inline-failure-goes-on': ['I39'],
  'slot-name-unchecked': ['I38'],
  'slots-restart': ['I40'],
  'ids-restart': ['I40'],
  'continue-forgets-seals': ['I40'],
  'continue-unsaved': ['I37'],
  'continue-drops-signals': ['I34'],
  'unseen-untold': ['I34'],
  'deadline-of-first': ['I20'],
  'conflict-keeps-generation': ['I41', 'I34'],
  'slots-as-met': ['L1'],
  'slots-although-cut': ['L1'],
  'cut-plan-sees-more': ['L1'],
}

/** Most mutants show within a few seeds. The search for a rarer one starts a little before its first seed, to save time. */
const FIRST_SEEDS: Readonly<Record<string, number>> = {
  'late-plan-counts': 90,
  'continue-drops-signals': 120,
  'conflict-keeps-generation': 100,
  'cut-plan-sees-more': 800,
}

function findFirst(mutant: string): readonly string[] {
  for (let seed = FIRST_SEEDS[mutant] ?? 1; seed <= MUTANT_SEEDS_MAX; seed++) {
    const { violations } = simulateWorkflows(seed, mutant)
    if (violations.length > 0) return violations.map(({ invariant }) => invariant)
  }
  return []
}

describe('a world of workflows', () => {
  it('breaks no invariant, and meets both ends, later generations, seals of slots that have run, and steps that come too late', () => {
    const ends = new Set<string>()
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { violations, counts } = simulateWorkflows(seed)
      expect({ seed, violations }).toEqual({ seed, violations: [] })
      for (const [name, count] of Object.entries(counts)) if (count > 0) ends.add(name)
    }
    const met = ['succeeded', 'failed', 'generations', 'large']
    met.push('ranWithin', 'sealedEmpty', 'sealedUntold', 'blocked', 'taken')
    expect([...ends]).toEqual(expect.arrayContaining(met))
  })

  it('is the same each time', () => {
    const once = simulateWorkflows(7, undefined, true)
    expect(simulateWorkflows(7, undefined, true).trace).toEqual(once.trace)
  })

  it('has a proof for each mutant', () => {
    expect(Object.keys(BREAKS).sort()).toEqual(Object.keys(WORKFLOW_MUTANTS).sort())
  })

  for (const [mutant, invariants] of Object.entries(BREAKS)) {
    it(`shows ${mutant}`, () => {
      expect(findFirst(mutant).some((invariant) => invariants.includes(invariant))).toBe(true)
    })
  }
})
