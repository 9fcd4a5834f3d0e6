import type { Violation } from '../audit/violation.ts'
import { INVARIANTS } from '../audit/violation.ts'
import type { ChaosFaults, ChaosResult } from '../chaos-result.ts'

const VIOLATIONS_SHOWN = 20
const NAME_WIDTH = 34

const FAULT_WORDS: Readonly<Record<keyof ChaosFaults, string>> = {
  serverKills: 'servers killed',
  killsWithWork: '  with 5 or more in flight',
  serverPauses: 'servers paused past their lease',
  fencedWrites: '  writes refused to the former owner',
  storeKills: 'store killed',
  storePauses: 'store paused',
  bankKills: 'banks killed',
  edgesHurt: 'edges of the network hurt',
  ambiguousCommits: 'answers to commits lost',
  commitsLost: 'commits lost',
  submitAnswersLost: 'answers to clients lost',
  branchAnswersLost: 'answers of banks lost',
  requestsDoubled: 'branch requests delivered twice',
  requestsLate: 'branch requests delivered late',
  requestsLost: 'branch requests lost',
  requestsReplayed: 'branch requests replayed at the end',
  nullCompensations: '  null compensations',
  hangingActionsBlocked: '  hanging actions blocked',
  duplicatesFiltered: '  duplicates filtered',
  idsHandedOn: 'ids handed from branch to branch',
  answersAnew: '  answered anew when asked again',
  undoneUnknown: '  compensations without the id',
  signalsTaken: 'waits ended by a signal',
  signalTimeouts: 'waits ended by their timeout',
  signalsDoubled: '  signals acknowledged again',
  signalsLate: '  signals refused as too late',
  marks: 'points of no return passed',
  abortsRefused: '  aborts refused there',
  workflows: 'workflows run',
  workflowsUndone: '  turned around',
  plansSentAgain: '  plan calls with slots sent again',
  slotsSealed: '  slots sealed that may have run',
  changedCode: '  begun by changed code',
  failuresCaught: '  succeeded after a failure',
  deathsBetweenCommits: 'handlers dead between two commits',
  deathsBeforeAnswer: 'handlers dead before their answer',
  deathsUndone: '  their workflows undone',
  deathsSurvived: '  their workflows succeeded',
  commandsGiven: 'commands of operators',
  commandsRepeated: '  sent once more, and durable again',
  commandsSentAgain: '  sent again after a lost answer',
  pauses: '  pauses',
  skips: '  skips',
  edits: '  edits',
  bulkCommands: '  by a bulk job',
  unansweredQuestions: 'questions of clients unanswered',
  serverErrorsLogged: 'errors that servers logged',
}

/** Prints the result for people. */
export function formatResult(result: ChaosResult): string {
  const { settings, tookMs, healedMs, accepted, ends, faults, violations, unbitten } = result
  const rows = (Object.keys(FAULT_WORDS) as (keyof ChaosFaults)[]).map((name) =>
    row(FAULT_WORDS[name], faults[name]),
  )
  return [
    `${settings.store}, seed ${settings.seed}: ${settings.sagas} transactions in ${seconds(tookMs)}`,
    row('accepted', accepted),
    row('succeeded', ends.succeeded),
    row('failed and undone', ends.failed),
    row('all ended after the last fault', seconds(healedMs)),
    ...rows,
    '',
    ...['lost', 'doubled effects', 'stuck', 'other violations'].map((name, index) =>
      row(name, countViolations(violations)[index] ?? 0),
    ),
    ...violations.slice(0, VIOLATIONS_SHOWN).map(violationLine),
    ...(violations.length > VIOLATIONS_SHOWN ? [`… and ${violations.length - VIOLATIONS_SHOWN} more`] : []),
    ...unbitten.map((what) => `NOT BITTEN ${what}`),
  ].join('\n')
}

/** Prints the result for programs: one line of JSON. */
export function resultLine(result: ChaosResult): string {
  const [lost, doubled, stuck, other] = countViolations(result.violations)
  const { violations, ...rest } = result
  return JSON.stringify({
    ok: violations.length === 0 && rest.unbitten.length === 0,
    ...rest,
    tookMs: Math.round(rest.tookMs),
    healedMs: Math.round(rest.healedMs),
    lost,
    doubled,
    stuck,
    other,
    violations: violations.slice(0, VIOLATIONS_SHOWN),
  })
}

function countViolations(violations: readonly Violation[]): readonly number[] {
  const count = (name: Violation['invariant']) =>
    violations.filter(({ invariant }) => invariant === name).length
  const named = [count('I1'), count('I7'), count('L1')]
  return [...named, violations.length - named.reduce((sum, each) => sum + each, 0)]
}

function violationLine({ invariant, subject, detail }: Violation): string {
  return `VIOLATION ${invariant} (${INVARIANTS[invariant]}) ${subject}: ${detail}`
}

function row(name: string, value: number | string): string {
  return `  ${name.padEnd(NAME_WIDTH)} ${value}`
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
