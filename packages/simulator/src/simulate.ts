/** One seed, one world, from the first submit to the audit. */
import { AssertionError, type RunSettings } from '@counterstep/core'
import { Auditor, type Violation } from './auditor.ts'
import { Client } from './client.ts'
import type { Counters } from './counters.ts'
import { EVENT } from './event-code.ts'
import { auditEnd } from './final-audit.ts'
import { MessageClient } from './message-client.ts'
import { wiringOf } from './mutants.ts'
import { unleash } from './nemesis.ts'
import { Network } from './network.ts'
import { Node, type Surroundings } from './node.ts'
import { Participants } from './participant.ts'
import { PreparedParticipants } from './prepared-participant.ts'
import { drawMessage, drawTcc, type PreparedPlan } from './prepared-plan.ts'
import { drawSaga } from './saga-plan.ts'
import { SimStore } from './sim-store.ts'
import { TccClient } from './tcc-client.ts'
import { World } from './world.ts'

export interface SimulationResult {
  readonly violations: readonly Violation[]
  readonly traceHash: number
  readonly counters: Counters
  readonly events: number
  /** Virtual time from the heal to the last final status. */
  readonly healMs: number
  /** Only if asked for. */
  readonly trace: readonly string[]
}

const FAULTY_MS = 7_000
const LIVENESS_MS = 40_000
const OPERATOR_MS = 500
/** From the last end to the silence: what runs of lost leases need to hear of it. */
const CALM_MS = 4 * OPERATOR_MS
const LEASE_MS = 1_500

export function simulate(
  seed: number,
  mutant?: string,
  options: { readonly trace?: boolean } = {},
): SimulationResult {
  const world = new World(seed, wiringOf(mutant), options.trace === true)
  const auditor = new Auditor(world)
  const store = new SimStore(world, auditor)
  const participants = new Participants(world, auditor)
  const prepared = new PreparedParticipants(world, auditor.prepared)
  auditor.watch(store, participants)
  auditor.prepared.watch(prepared)
  const surroundings: Surroundings = {
    world,
    auditor,
    store,
    network: new Network(world, participants, prepared),
    settings: settingsOf(world),
  }
  const nodes = populate(surroundings, prepared)
  const healAt = world.random.between(FAULTY_MS / 2, FAULTY_MS)
  unleash(world, nodes, store, healAt)
  if (world.trace.isOn) world.trace.line(0, JSON.stringify(world.faults))
  let settledAt: number | undefined
  const look = () => {
    for (const row of store.parked()) nodes[0]?.command(row.gid, { type: 'retry-asked' }, () => undefined)
    const isSettled =
      store.isSettled() && [...auditor.logs.values()].every((log) => log.isAcknowledged || log.isOrphan)
    // Not for good: what a client that has died asked for may only now come.
    settledAt = isSettled ? (settledAt ?? world.now) : undefined
    if (settledAt !== undefined && world.now >= settledAt + CALM_MS) hush(world, auditor, nodes)
    else if (world.now < healAt + LIVENESS_MS) world.after(OPERATOR_MS, EVENT.nemesis, look)
    else world.isQuiet = true
  }
  world.after(healAt + 1, EVENT.nemesis, look)
  turn(world, auditor)
  auditEnd(auditor, store, participants)
  count(world, store)
  return {
    violations: auditor.violations,
    traceHash: world.trace.hash,
    counters: world.counters,
    events: world.events,
    healMs: (settledAt ?? world.now) - healAt,
    trace: world.trace.lines,
  }
}

function settingsOf(world: World): RunSettings {
  return {
    leaseMs: LEASE_MS,
    holdMs: world.random.between(50, 500),
    retentionMs: 'never',
    // A store that loses its tail is of class B.
    releaseKeepsSentList: !world.faults.loseTail,
  }
}

function populate(surroundings: Surroundings, participants: PreparedParticipants): Node[] {
  const { world, auditor } = surroundings
  const { random, counters } = world
  const sagas = random.between(2, 5)
  const plans = Array.from({ length: sagas }, (_, saga) => drawSaga(random, saga, world.faults))
  const prepared = drawPrepared(world)
  const nodes = Array.from(
    { length: random.between(1, 3) },
    (_, position) => new Node(`n${position}`, [...plans, ...prepared], surroundings),
  )
  for (const plan of plans) {
    counters.sagas++
    if (plan.definition.delayMs !== undefined) counters.delayedStarts++
    if (plan.definition.checkpointMs === 0) counters.strictSagas++
    auditor.register(plan)
    new Client(world, auditor, nodes, plan).start(random.between(0, FAULTY_MS / 2))
    if (world.trace.isOn)
      world.trace.line(0, `${plan.gid} ${JSON.stringify(plan.definition)} refused ${plan.refused}`)
  }
  for (const plan of prepared) send(plan, nodes, surroundings, participants)
  for (const node of nodes) node.start()
  return nodes
}

/** Not in every world, so that what they cost is small beside the sagas. */
function drawPrepared({ random, faults }: World): PreparedPlan[] {
  const tccs = Array.from({ length: random.chance(0.5) ? random.between(1, 2) : 0 }, (_, number) =>
    drawTcc(random, number, faults),
  )
  const messages = Array.from({ length: random.chance(0.5) ? random.between(1, 2) : 0 }, (_, number) =>
    drawMessage(random, number),
  )
  return [...tccs, ...messages]
}

function send(
  plan: PreparedPlan,
  nodes: readonly Node[],
  { world, auditor, network }: Surroundings,
  participants: PreparedParticipants,
): void {
  const { counters, random, trace } = world
  auditor.register(plan)
  const asking = { world, auditor, nodes, gid: plan.gid }
  const log = auditor.log(plan.gid)
  const startAt = random.between(0, FAULTY_MS / 2)
  if (plan.kind === 'tcc' && 'tried' in log) {
    counters.tccs++
    new TccClient(asking, network, plan, log).start(startAt)
  }
  if (plan.kind === 'message' && 'hasCommitted' in log) {
    counters.messages++
    new MessageClient(asking, participants, plan, log).start(startAt)
  }
  if (trace.isOn) trace.line(0, `${plan.gid} ${JSON.stringify(plan)}`)
}

function turn(world: World, auditor: Auditor): void {
  for (;;) {
    try {
      if (!world.step(Number.POSITIVE_INFINITY)) return
    } catch (error: unknown) {
      if (!(error instanceof AssertionError)) throw error
      auditor.report('assertion', '-', error.message)
    }
  }
}

function hush(world: World, auditor: Auditor, nodes: readonly Node[]): void {
  for (const { name, running } of nodes) {
    if (running > 0) auditor.report('L5', name, `${running} runs are left of transactions that are final`)
  }
  world.isQuiet = true
}

function count(world: World, store: SimStore): void {
  for (const { kind, status } of store.rows()) {
    if (kind === 'tcc' && status === 'succeeded') world.counters.tccsConfirmed++
    if (kind === 'tcc' && status === 'failed') world.counters.tccsCancelled++
    if (kind === 'message' && status === 'succeeded') world.counters.messagesDelivered++
    if (kind === 'message' && status === 'failed') world.counters.messagesDropped++
    if (status === 'succeeded' || status === 'failed' || status === 'stopped') world.counters[status]++
  }
}
