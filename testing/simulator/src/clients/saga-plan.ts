/** Draws the sagas that the clients of a world submit. */
import type { newTransactionRow, SagaBranch, SagaDefinition } from '@counterstep/core'
import { type BranchId, type Gid, isBranchId, isGid, type RetryPolicy } from '@counterstep/protocol'
import type { FaultProfile } from '../world/faults.ts'
import type { Random } from '../world/random.ts'
import { type AnswersPlan, drawAnswers } from './answers-plan.ts'
import { drawBody } from './payload.ts'
import { drawStages, type PlannedSignal } from './stages-plan.ts'
import { drawValues } from './values-plan.ts'

export type Submission = Parameters<typeof newTransactionRow>[0]

export interface SagaPlan {
  readonly kind: 'saga'
  readonly saga: number
  readonly gid: Gid
  readonly digest: string
  readonly submission: Submission
  readonly definition: SagaDefinition
  /** All branches that come after each branch, directly or not. */
  readonly successors: readonly (readonly number[])[]
  /** The amount that each branch's action adds to its account. The sum is 0, so that money only moves. */
  readonly amounts: readonly number[]
  /** Whether the business always refuses the branch's action. */
  readonly refused: readonly boolean[]
  readonly answers: AnswersPlan
  readonly signals: readonly PlannedSignal[]
}

/** Later additions are drawn from streams of their own, so that they did not change the worlds of existing seeds. */
export interface SagaRandoms {
  readonly random: Random
  readonly values: Random
  readonly stages: Random
}

export function drawSaga(
  { random, values: valuesRandom, stages: stagesRandom }: SagaRandoms,
  saga: number,
  faults: FaultProfile,
  storeNow: number,
): SagaPlan {
  const gid = `g${saga}`
  if (!isGid(gid)) throw new TypeError(`not a gid: ${gid}`)
  const count = random.between(1, 5)
  const shape = random.next()
  const called: SagaBranch[] = []
  for (let branch = 0; branch < count; branch++) called.push(drawBranch(random, gid, branch, shape))
  const { branches, signals } = stagesRandom.chance(0.25)
    ? drawStages(stagesRandom, gid, called, storeNow)
    : { branches: called, signals: [] }
  const successors = branches.map((_, branch) => findSuccessors(branches, branch))
  const values = valuesRandom.chance(0.35)
    ? drawValues(valuesRandom, gid, branches, successors)
    : { branches }
  const definition: SagaDefinition = {
    kind: 'saga',
    ...values,
    retry: drawRetry(random),
    timeoutMs: random.between(100, 400),
    checkpointMs: random.chance(0.2) ? 0 : random.between(20, 800),
    ...(random.chance(0.35) ? { deadlineMs: random.between(50, 6_000) } : {}),
    ...(random.chance(0.25) ? { delayMs: random.between(20, 2_500) } : {}),
  }
  return {
    kind: 'saga',
    saga,
    gid,
    digest: `${saga}`.padStart(64, '0'),
    definition,
    submission: { gid, ack: 'durable', content: gid, definition },
    successors,
    amounts: listAmounts(branches),
    refused: branches.map(() => random.chance(faults.businessFailures)),
    answers: drawAnswers(valuesRandom, branches.length),
    signals,
  }
}

function drawRetry(random: Random): RetryPolicy {
  return {
    initialMs: random.between(20, 100),
    factor: 2,
    capMs: random.between(300, 1_500),
    jitter: 1,
    limit: random.chance(0.25) ? random.between(1, 4) : null,
  }
}

/** Lists the amounts. A saga that cannot be undone wholly moves no money. */
function listAmounts(branches: readonly SagaBranch[]): number[] {
  const isUndone = branches.every(
    ({ compensation, role, wait }) => compensation !== undefined || role !== undefined || wait !== undefined,
  )
  if (!isUndone) return branches.map(() => 0)
  const last = branches.findLastIndex(({ wait }) => wait === undefined)
  const amounts = branches.map(({ wait }, branch) => (wait === undefined && branch < last ? branch + 1 : 0))
  const sum = amounts.reduce((total, amount) => total + amount, 0)
  return amounts.map((amount, branch) => (branch === last ? 0 - sum : amount))
}

/** Draws a branch of a chain, of a parallel saga or of any graph. */
function drawBranch(random: Random, gid: Gid, branch: number, shape: number): SagaBranch {
  const earlier = Array.from({ length: branch }, (_, position) => position)
  const after = shape < 0.4 ? earlier.slice(-1) : shape < 0.55 ? [] : earlier.filter(() => random.chance(0.5))
  return {
    id: toBranchId(branch),
    action: 'http://a',
    ...(random.chance(0.15) ? {} : { compensation: 'http://c' }),
    body: drawBody(random, gid, branch),
    contentType: 'application/json',
    after,
    headers: {},
    ...(random.chance(0.1) ? { retry: drawRetry(random) } : {}),
    ...(random.chance(0.1) ? { timeoutMs: random.between(100, 400) } : {}),
  }
}

/** Finds all successors. The branches stand in an order in which each comes after its predecessors. */
function findSuccessors(branches: readonly SagaBranch[], branch: number): number[] {
  const found: number[] = []
  branches.forEach(({ after }, position) => {
    if (after.some((before) => before === branch || found.includes(before))) found.push(position)
  })
  return found
}

function toBranchId(branch: number): BranchId {
  const id = `b${branch}`
  if (!isBranchId(id)) throw new TypeError(`not a branch id: ${id}`)
  return id
}
