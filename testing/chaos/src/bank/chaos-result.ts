import type { Violation } from './audit/violation.ts'
import type { ChaosSettings } from './chaos-settings.ts'
import type { NemesisCounts } from './nemesis/nemesis.ts'

/** The result of a run: its work, the faults that bit, and the violations. */
export interface ChaosResult {
  readonly settings: ChaosSettings
  readonly tookMs: number
  /** The time from the last fault to the last end. */
  readonly healedMs: number
  readonly accepted: number
  readonly ends: Readonly<Record<'succeeded' | 'failed' | 'other', number>>
  readonly faults: ChaosFaults
  readonly violations: readonly Violation[]
  /** Faults that did not bite: such a run proves little. */
  readonly unbitten: readonly string[]
}

export interface ChaosFaults extends NemesisCounts {
  readonly fencedWrites: number
  readonly ambiguousCommits: number
  readonly commitsLost: number
  readonly submitAnswersLost: number
  readonly branchAnswersLost: number
  readonly requestsDoubled: number
  readonly requestsLate: number
  readonly requestsLost: number
  readonly requestsReplayed: number
  readonly nullCompensations: number
  readonly hangingActionsBlocked: number
  readonly duplicatesFiltered: number
  /** Branches that answered anew when they were asked again. */
  readonly answersAnew: number
  /** Ids that stood in a request of another branch than the one that had answered them. */
  readonly idsHandedOn: number
  /** Compensations that were sent without an id, since the orchestrator did not know it. */
  readonly undoneUnknown: number
  /** Waits that a signal has ended, and those that had their timeout. */
  readonly signalsTaken: number
  readonly signalTimeouts: number
  /** Signals that were acknowledged again, and those that came after the turn or after the end. */
  readonly signalsDoubled: number
  readonly signalsLate: number
  /** Sagas that passed the point of no return, and aborts that were refused there. */
  readonly marks: number
  readonly abortsRefused: number
  readonly workflows: number
  readonly workflowsUndone: number
  /** Plan calls that granted slots and arrived once more, and the slots of which no plan had told. */
  readonly plansSentAgain: number
  readonly slotsSealed: number
  /** Workflows that were planned by the code of a later deployment from their beginning. */
  readonly changedCode: number
  /** Workflows in which a step has failed, and which have succeeded. */
  readonly failuresCaught: number
  /** Handlers that died in a plan call between two commits, and between the last commit and the answer. */
  readonly deathsBetweenCommits: number
  readonly deathsBeforeAnswer: number
  /** Those of the plan calls whose workflow has failed, and has succeeded. */
  readonly deathsUndone: number
  readonly deathsSurvived: number
  /** Commands of operators that were answered as durable; those sent once more after that; those whose first answer was lost. */
  readonly commandsGiven: number
  readonly commandsRepeated: number
  readonly commandsSentAgain: number
  readonly pauses: number
  readonly skips: number
  readonly edits: number
  readonly bulkCommands: number
  /** Questions of clients that had no answer, and were asked again. */
  readonly unansweredQuestions: number
  readonly serverErrorsLogged: number
}
