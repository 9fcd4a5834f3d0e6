/** Draws the transactions that are prepared first: TCCs, XA and two-phase messages. */
import type {
  MessageBranch,
  MessageDefinition,
  RecordedDefinition,
  RegisteredBranch,
  TccDefinition,
  XaDefinition,
} from '@counterstep/core'
import { type BranchId, type Gid, isBranchId, isGid, type Op } from '@counterstep/protocol'
import type { FaultProfile } from '../world/faults.ts'
import type { Random } from '../world/random.ts'
import { drawBody } from './payload.ts'
import type { Submission } from './saga-plan.ts'

interface Common {
  readonly gid: Gid
  readonly digest: string
  readonly submission: Submission
}

/** A TCC, or XA, whose services prepare where those of a TCC try. */
export interface TccPlan extends Common {
  readonly kind: 'tcc'
  readonly definition: TccDefinition | XaDefinition
  /** The branches that its client will register, one after the other. */
  readonly branches: readonly RegisteredBranch[]
  /** Whether the business always refuses the branch's try. */
  readonly refused: readonly boolean[]
}

export interface MessagePlan extends Common {
  readonly kind: 'message'
  readonly definition: MessageDefinition
  /** Whether the sender's own database transaction means to commit. */
  readonly commits: boolean
}

/** A workflow that its client runs. Its steps are the client's own. */
export interface RecordedPlan extends Common {
  readonly kind: 'recorded'
  readonly definition: RecordedDefinition
  readonly steps: number
  /** The step that the business always refuses. */
  readonly failsAt?: number
}

export type PreparedPlan = TccPlan | MessagePlan | RecordedPlan

export function drawTcc(random: Random, number: number, faults: FaultProfile): TccPlan {
  // The second one of two is XA.
  const isXa = number === 1
  const definition: TccDefinition | XaDefinition = {
    kind: isXa ? 'xa' : 'tcc',
    ...drawSettings(random),
    // The deadline often passes while the client still registers.
    deadlineMs: random.chance(0.4) ? random.between(50, 600) : random.between(200, 5_000),
    headers: {},
  }
  const branches = Array.from({ length: random.between(0, 4) }, (_, branch) => ({
    ...drawTarget(random, `t${number}`, branch),
    ...(isXa ? { url: 'http://x' } : { confirm: 'http://f', cancel: 'http://x' }),
  }))
  const refused = branches.map(() => random.chance(faults.businessFailures / 2))
  return { kind: 'tcc', ...buildIdentity(`t${number}`, definition), definition, branches, refused }
}

export function drawMessage(random: Random, number: number): MessagePlan {
  const branches: MessageBranch[] = Array.from({ length: random.between(1, 3) }, (_, branch) => ({
    ...drawTarget(random, `m${number}`, branch),
    action: 'http://a',
  }))
  const definition: MessageDefinition = {
    kind: 'message',
    ...drawSettings(random),
    branches,
    concurrent: random.chance(0.5),
    ...(random.chance(0.25) ? { delayMs: random.between(20, 2_500) } : {}),
    ...(random.chance(0.15)
      ? {}
      : { check: { url: 'http://q', afterMs: random.between(50, 2_000), headers: {} } }),
  }
  const commits = definition.check === undefined || random.chance(0.65)
  return { kind: 'message', ...buildIdentity(`m${number}`, definition), definition, commits }
}

export function drawRecorded(random: Random, number: number): RecordedPlan {
  const name = `w${number}`
  const definition: RecordedDefinition = {
    kind: 'recorded',
    ...drawSettings(random),
    workflow: name,
    callback: { url: 'http://w', body: '{}', contentType: 'application/json', headers: {} },
  }
  const steps = random.between(1, 4)
  const fails = random.chance(0.3) ? { failsAt: random.between(0, steps - 1) } : {}
  return { kind: 'recorded', ...buildIdentity(name, definition), definition, steps, ...fails }
}

function drawSettings(random: Random) {
  return {
    retry: {
      initialMs: random.between(20, 100),
      factor: 2,
      capMs: random.between(300, 1_500),
      jitter: 1,
      limit: null,
    },
    timeoutMs: random.between(100, 400),
    checkpointMs: random.chance(0.2) ? 0 : random.between(20, 800),
  }
}

function buildIdentity(name: string, definition: PreparedPlan['definition']): Common {
  if (!isGid(name)) throw new TypeError(`not a gid: ${name}`)
  const digest = name.padStart(64, '0')
  return { gid: name, digest, submission: { gid: name, ack: 'durable', content: name, definition } }
}

function drawTarget(random: Random, gid: string, branch: number) {
  const body = drawBody(random, gid, branch)
  return { id: toBranchId(branch), body, contentType: 'application/json', headers: {} }
}

function toBranchId(branch: number): BranchId {
  const id = `b${branch}`
  if (!isBranchId(id)) throw new TypeError(`not a branch id: ${id}`)
  return id
}

/** Returns the op of a TCC that does what this op of XA does, so that one service and one audit know both. */
export function toTccOp({ definition: { kind } }: PreparedPlan, op: Op): Op {
  if (kind !== 'xa' || op === 'try') return op
  if (op === 'commit') return 'confirm'
  if (op === 'rollback') return 'cancel'
  throw new Error(`XA has no ${op}`)
}
