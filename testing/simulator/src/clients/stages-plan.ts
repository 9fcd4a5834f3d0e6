/** Draws the stages of a saga: branches that wait for a time or a signal, and branches that cannot be undone. */
import type { SagaBranch, Wait } from '@counterstep/core'
import { type BranchId, isBranchId } from '@counterstep/protocol'
import type { Random } from '../world/random.ts'
import { drawBody } from './payload.ts'

export interface StagesPlan {
  readonly branches: readonly SagaBranch[]
  readonly signals: readonly PlannedSignal[]
}

export interface PlannedSignal {
  readonly name: string
  readonly id: string
  /** The JSON of the value in its payload. */
  readonly value: string
  /** `timeout`: it is sent so that it arrives about when the wait ends. Else it is sent so long after the accept. */
  readonly at: 'timeout' | number
  /** It is sent this often at the same time, each time to some node. */
  readonly copies: number
  /** It is sent again until it is answered, because a wait without a time limit needs it. */
  readonly isSure: boolean
}

const NAMES = ['approval', 'pickup']
const WAIT_MS_MAX = 1_500
const SOON_MS_MAX = 3_000

/** `storeNow` is the store's clock at the start of the world, since which the instants of timers are drawn. */
export function drawStages(
  random: Random,
  gid: string,
  branches: readonly SagaBranch[],
  storeNow: number,
): StagesPlan {
  const drawn = addWaits(random, branches, storeNow)
  const staged = random.chance(0.6) ? addRoles(random, gid, drawn, storeNow) : drawn
  return { branches: staged, signals: drawSignals(random, staged) }
}

/** Lets some branches come after a wait, or after two that want signals of the same name. */
function addWaits(random: Random, branches: readonly SagaBranch[], storeNow: number): SagaBranch[] {
  const drawn: SagaBranch[] = []
  const positions: number[] = []
  for (const branch of branches) {
    const before = branch.after.map((position) => positions[position] ?? 0)
    const waits = random.chance(0.35) ? drawWaits(random, storeNow) : []
    const after = waits.map((wait) => drawn.push(toWaitBranch(wait, drawn.length, before)) - 1)
    const isBeside = random.chance(0.3)
    positions.push(drawn.length)
    drawn.push({ ...branch, after: after.length === 0 || isBeside ? [...before, ...after] : after })
  }
  return drawn
}

function drawWaits(random: Random, storeNow: number): Wait[] {
  if (random.chance(0.4)) return [drawTimer(random, storeNow)]
  const wait = drawSignalWait(random, random.chance(0.6) ? 'abort' : 'continue')
  return random.chance(0.3) ? [wait, { ...wait }] : [wait]
}

function drawTimer(random: Random, storeNow: number): Wait {
  return random.chance(0.7)
    ? { type: 'ms', ms: random.between(0, WAIT_MS_MAX) }
    : { type: 'until', until: storeNow + random.between(0, 5_000) }
}

function drawSignalWait(random: Random, onTimeout: 'abort' | 'continue'): Wait {
  return {
    type: 'signal',
    name: NAMES[random.between(0, NAMES.length - 1)] ?? '',
    onTimeout,
    ...(random.chance(0.2) ? {} : { timeoutMs: random.between(50, WAIT_MS_MAX) }),
  }
}

/** Adds a pivot after all others, then a wait that cannot abort, and retriables after all of them. */
function addRoles(
  random: Random,
  gid: string,
  branches: readonly SagaBranch[],
  storeNow: number,
): SagaBranch[] {
  const drawn = [...branches]
  const add = (branch: SagaBranch) => drawn.push({ ...branch, after: [...drawn.keys()] })
  if (random.chance(0.75)) add(toRoleBranch(random, gid, drawn.length, 'pivot'))
  if (random.chance(0.3)) {
    const wait = random.chance(0.5) ? drawTimer(random, storeNow) : drawSignalWait(random, 'continue')
    add(toWaitBranch(wait, drawn.length, []))
  }
  const retriables = random.between(drawn.length === branches.length ? 1 : 0, 2)
  for (let count = 0; count < retriables; count++) add(toRoleBranch(random, gid, drawn.length, 'retriable'))
  return drawn
}

function toWaitBranch(wait: Wait, position: number, after: readonly number[]): SagaBranch {
  return { id: toBranchId(`w${position}`), action: '', body: '', contentType: '', headers: {}, after, wait }
}

function toRoleBranch(
  random: Random,
  gid: string,
  position: number,
  role: 'pivot' | 'retriable',
): SagaBranch {
  return {
    id: toBranchId(`${role}${position}`),
    action: 'http://a',
    body: drawBody(random, gid, position),
    contentType: 'application/json',
    headers: {},
    after: [],
    role,
  }
}

function toBranchId(text: string): BranchId {
  if (!isBranchId(text)) throw new TypeError(`not a branch id: ${text}`)
  return text
}

/** Draws none to two signals for each wait. All waits of a name have one if one of them has no time limit. */
function drawSignals(random: Random, branches: readonly SagaBranch[]): PlannedSignal[] {
  const waits = branches.flatMap(({ wait }) => (wait?.type === 'signal' ? [wait] : []))
  const endless = waits.filter(({ timeoutMs }) => timeoutMs === undefined).map(({ name }) => name)
  return waits
    .flatMap(({ name }) => {
      const isSure = endless.includes(name)
      const count = isSure ? random.between(1, 2) : random.between(0, 2)
      return Array.from({ length: count }, () => ({ name, isSure }))
    })
    .map(({ name, isSure }, number) => ({
      name,
      isSure,
      id: `s${number}`,
      value: `${number}.10`,
      at: !isSure && random.chance(0.5) ? 'timeout' : random.between(0, SOON_MS_MAX),
      copies: random.chance(0.4) ? 2 : 1,
    }))
}

/** Returns how long the waits of a saga may take together, if no signal comes. */
export function sumWaits(branches: readonly SagaBranch[], storeNow: number): number {
  return branches.reduce((sum, { wait }) => {
    if (wait?.type === 'ms') return sum + (typeof wait.ms === 'number' ? wait.ms : 0)
    if (wait?.type === 'until')
      return sum + (typeof wait.until === 'number' ? Math.max(0, wait.until - storeNow) : 0)
    return sum + (wait?.timeoutMs ?? 0)
  }, 0)
}
