import type { BankFixture } from '../bank-fixture.ts'
import type { ChaosFaults } from '../chaos-result.ts'
import type { Evidence } from '../evidence.ts'
import type { LostAnswers } from '../nemesis/lost-answers.ts'
import type { Nemesis } from '../nemesis/nemesis.ts'
import type { FencedWrites } from '../processes/server-figures.ts'
import { branchFigures } from './branch-figures.ts'
import { countServerErrors } from './server-errors.ts'

export interface CountedRun {
  readonly nemesis: Nemesis
  readonly fenced: FencedWrites
  readonly lost: LostAnswers
  readonly fixture: BankFixture
  readonly evidence: Evidence
  readonly logFolder: string
}

/** Counts the faults of a run, and what they hit. */
export async function countFaults({
  nemesis,
  fenced,
  lost,
  fixture,
  evidence,
  logFolder,
}: CountedRun): Promise<ChaosFaults> {
  return {
    ...nemesis.counts,
    fencedWrites: fenced.count,
    ...lostCounts(lost),
    ...repeaterCounts(fixture),
    ...branchFigures(evidence.calls, evidence.banks),
    unansweredQuestions: evidence.notes.filter(({ answer }) => answer.type === 'none').length,
    serverErrorsLogged: await countServerErrors(logFolder),
  }
}

function lostCounts(lost: LostAnswers) {
  const { commits, commitRequests, submits, branchCalls } = lost.counts()
  return {
    ambiguousCommits: commits,
    commitsLost: commitRequests,
    submitAnswersLost: submits,
    branchAnswersLost: branchCalls,
  }
}

function repeaterCounts({ banks }: BankFixture) {
  const sum = (pick: (counts: (typeof banks)[number]['repeater']['counts']) => number) =>
    banks.reduce((total, { repeater }) => total + pick(repeater.counts), 0)
  return {
    requestsDoubled: sum(({ doubled }) => doubled),
    requestsLate: sum(({ late, withheld }) => late + withheld),
    requestsLost: sum(({ lost }) => lost),
    requestsReplayed: sum(({ replayed }) => replayed),
  }
}
