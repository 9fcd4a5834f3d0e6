import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OperatorCommand, TransactionView } from '@counterstep/protocol'
import { isSeal } from '../audit/is-seal.ts'
import type { BankFixture } from '../bank-fixture.ts'
import type { ChaosFaults } from '../chaos-result.ts'
import type { Ask, BankBooks, BranchCallNote, Evidence } from '../evidence.ts'
import type { LostAnswers } from '../nemesis/lost-answers.ts'
import type { Nemesis } from '../nemesis/nemesis.ts'
import type { FencedWrites } from '../processes/server-figures.ts'

const ERROR_LINE = /^\{"level":(50|60)/gm

interface BranchFigures {
  readonly nullCompensations: number
  readonly hangingActionsBlocked: number
  readonly duplicatesFiltered: number
}

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
    ...valueFigures(evidence),
    ...approvalFigures(evidence),
    ...workflowFigures(evidence),
    ...operatorFigures(evidence),
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

/** Counts the calls that the banks' barriers kept from taking effect. */
function branchFigures(calls: readonly BranchCallNote[], banks: readonly BankBooks[]): BranchFigures {
  const succeeded = new Set<string>()
  let duplicatesFiltered = 0
  let hangingActionsBlocked = 0
  for (const { gid, branchId, op, statusCode, code } of calls) {
    if (code === 'ALREADY_COMPENSATED') hangingActionsBlocked += 1
    // A plan that is asked again is answered by the function, not by a barrier.
    if (statusCode !== 200 || op === 'plan') continue
    const key = `${gid}/${branchId}/${op}`
    if (succeeded.has(key)) duplicatesFiltered += 1
    succeeded.add(key)
  }
  return {
    nullCompensations: banks.reduce((sum, { blocked }) => sum + blocked.length, 0),
    hangingActionsBlocked,
    duplicatesFiltered,
  }
}

function valueFigures({ planned, calls }: Evidence) {
  const undoNeeds = new Map(
    [...planned.values()].flatMap(({ gid, branches }) =>
      branches.flatMap((branch) =>
        branch.undoNeeds === undefined ? [] : [[`${gid}/${branch.id}`, branch.undoNeeds]],
      ),
    ),
  )
  const handedOn = new Set(calls.flatMap(({ given }) => given))
  const quotes = calls.filter(({ branchId, statusCode }) => branchId === 'quote' && statusCode === 200)
  const undone = new Set<string>()
  for (const { gid, branchId, op, given } of calls) {
    const needs = undoNeeds.get(`${gid}/${branchId}`)?.length ?? 0
    if (op === 'compensate' && given.length < needs) undone.add(`${gid}/${branchId}`)
  }
  return {
    idsHandedOn: handedOn.size,
    answersAnew: quotes.length - new Set(quotes.map(({ gid }) => gid)).size,
    undoneUnknown: undone.size,
  }
}

function approvalFigures({ planned, approvals, notes, calls }: Evidence) {
  const pivots = new Map([...planned.values()].map(({ gid, approval }) => [gid, approval?.pivot]))
  const waits = approvals.flatMap(({ branches }) => branches.filter(({ wait }) => wait?.signal !== undefined))
  const acknowledged = notes.flatMap(({ answer }) => (answer.type === 'signal' ? [answer.id] : []))
  const refused = (ask: Ask, ...codes: readonly string[]) =>
    notes.filter(
      (note) => note.ask === ask && note.answer.type === 'problem' && codes.includes(note.answer.code),
    ).length
  return {
    signalsTaken: approvals.filter(({ signals = [] }) => signals.some(({ state }) => state === 'taken'))
      .length,
    signalTimeouts: waits.filter(({ ops }) => ops[0]?.error !== undefined).length,
    signalsDoubled: acknowledged.length - new Set(acknowledged).size,
    signalsLate: refused('signal', 'SAGA_TURNED_AROUND', 'SAGA_ALREADY_FINAL'),
    marks: new Set(calls.flatMap((call) => (call.branchId === pivots.get(call.gid) ? [call.gid] : []))).size,
    abortsRefused: refused('abort', 'SAGA_NO_RETURN'),
  }
}

function workflowFigures({ workflows, calls, deaths, rows }: Evidence) {
  const plans = calls.flatMap(({ gid, grant }) => (grant === undefined ? [] : [`${gid} ${grant.plan}`]))
  const seals = workflows.flatMap(({ branches }) => branches.filter(isSeal))
  return {
    workflows: workflows.length,
    workflowsUndone: workflows.filter(({ status }) => status === 'failed').length,
    plansSentAgain: plans.length - new Set(plans).size,
    slotsSealed: seals.length,
    changedCode: workflows.filter(({ branches }) => branches.some(({ is }) => is === 'patch')).length,
    failuresCaught: workflows.filter(hasCaughtFailure).length,
    deathsBetweenCommits: deaths.filter(({ point }) => point === 'between-commits').length,
    deathsBeforeAnswer: deaths.filter(({ point }) => point === 'before-answer').length,
    deathsUndone: deaths.filter(({ gid }) => rows.get(gid)?.status === 'failed').length,
    deathsSurvived: deaths.filter(({ gid }) => rows.get(gid)?.status === 'succeeded').length,
  }
}

/** A step has failed, and the workflow has succeeded all the same. */
function hasCaughtFailure({ status, branches }: TransactionView): boolean {
  return (
    status === 'succeeded' &&
    branches.some(({ wait, ops }) => wait === undefined && ops.some(({ state }) => state === 'failed'))
  )
}

function operatorFigures({ operators: { commands, jobs } }: Evidence) {
  const durable = commands.filter(({ outcome }) => outcome === 'durable')
  const count = (name: OperatorCommand) => durable.filter(({ command }) => command === name).length
  return {
    commandsGiven: durable.length,
    commandsRepeated: durable.filter(({ isRepeated }) => isRepeated).length,
    commandsSentAgain: durable.filter(({ lost }) => lost > 0).length,
    pauses: count('pause'),
    skips: count('skip'),
    edits: count('edit'),
    bulkCommands: jobs.reduce((sum, { counts }) => sum + (counts?.given ?? 0), 0),
  }
}

/** Counts the lines that servers logged as errors: none is expected, even when the store and the banks fail. */
async function countServerErrors(logFolder: string): Promise<number> {
  const names = (await readdir(logFolder)).filter((name) => name.startsWith('server-'))
  const texts = await Promise.all(names.map((name) => readFile(join(logFolder, name), 'utf8')))
  return texts.reduce((sum, text) => sum + [...text.matchAll(ERROR_LINE)].length, 0)
}
