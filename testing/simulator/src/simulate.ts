/** Runs the world of one seed, from the first submit to the audit. */
import { AssertionError, REST_LEASES_MAX, type RunSettings } from '@counterstep/core'
import { Auditor, type Violation } from './audit/auditor.ts'
import { auditEnd } from './audit/final-audit.ts'
import { Liveness } from './audit/liveness.ts'
import { ValuesAudit } from './audit/values-audit.ts'
import { Deliveries } from './branches/deliveries.ts'
import { Network } from './branches/network.ts'
import { Participants } from './branches/participant.ts'
import { PreparedParticipants } from './branches/prepared-participant.ts'
import { findWiring } from './mutants/mutants.ts'
import type { Surroundings } from './nodes/node.ts'
import type { Counters } from './seeds/counters.ts'
import { type Reduction, WHOLE } from './seeds/reduction.ts'
import type { FaultProfile } from './world/faults.ts'
import { unleash } from './world/nemesis.ts'
import { populate } from './world/populate.ts'
import { SimStore } from './world/sim-store.ts'
import { World } from './world/world.ts'

export interface SimulationResult {
  readonly violations: readonly Violation[]
  readonly traceHash: number
  readonly counters: Counters
  readonly events: number
  /** The drawn faults, without those that a reduction took away. */
  readonly faults: FaultProfile
  readonly gids: readonly string[]
  readonly healAtMs: number
  /**
   * The virtual time from the heal to the last end, or from the cure of the
   * poisoned transactions to the last end, whichever is longer.
   */
  readonly healMs: number
  /** The lines of the trace, if it was asked for. */
  readonly trace: readonly string[]
}

export interface SimulationOptions {
  readonly trace?: boolean
  readonly reduction?: Reduction
}

const FAULTY_MS = 7_000
const LEASE_MS = 1_500

export function simulate(seed: number, mutant?: string, options: SimulationOptions = {}): SimulationResult {
  const { trace = false, reduction = WHOLE } = options
  const world = new World(seed, findWiring(mutant), trace, reduction)
  const { faults } = world
  const auditor = new Auditor(world)
  const store = new SimStore(world, auditor)
  const values = new ValuesAudit(world, auditor, store)
  const participants = new Participants(world, auditor, values)
  const prepared = new PreparedParticipants(world, auditor.prepared)
  auditor.watch(store, participants)
  auditor.prepared.watch(prepared)
  const network = new Network(world, new Deliveries(world, auditor, values, auditor), participants, prepared)
  const surroundings: Surroundings = { world, auditor, values, store, network, settings: drawSettings(world) }
  const { nodes, gids } = populate(surroundings, prepared, reduction, FAULTY_MS / 2)
  const drawnHealAt = world.random.between(FAULTY_MS / 2, FAULTY_MS)
  const healAt = Math.min(drawnHealAt, reduction.healAtMs ?? drawnHealAt)
  if (world.trace.isOn) world.trace.line(0, JSON.stringify(faults))
  unleash(world, nodes, store, healAt)
  const liveness = new Liveness(world, auditor, store, nodes, REST_LEASES_MAX * LEASE_MS)
  liveness.start(healAt)
  runEvents(world, auditor)
  auditEnd(world, auditor, store, participants)
  count(world, store)
  return {
    violations: auditor.violations,
    traceHash: world.trace.hash,
    counters: world.counters,
    events: world.events,
    faults,
    gids,
    healAtMs: healAt,
    healMs: liveness.longestMs,
    trace: world.trace.lines,
  }
}

function drawSettings({ faults, random }: World): RunSettings {
  return {
    leaseMs: LEASE_MS,
    holdMs: random.between(50, 500),
    retentionMs: 'never',
    // A store that loses its last writes is of class B, or of class A with a lossy failover.
    releaseKeepsSentList: faults.loseTail === 0,
  }
}

function runEvents(world: World, auditor: Auditor): void {
  for (;;) {
    try {
      if (!world.step()) return
    } catch (error: unknown) {
      if (!(error instanceof AssertionError)) throw error
      auditor.report('assertion', '-', error.message)
    }
  }
}

function count(world: World, store: SimStore): void {
  for (const { kind, status } of store.rows()) {
    if (kind === 'xa' && status === 'succeeded') world.counters.xasCommitted++
    if (kind === 'xa' && status === 'failed') world.counters.xasRolledBack++
    if (kind === 'tcc' && status === 'succeeded') world.counters.tccsConfirmed++
    if (kind === 'tcc' && status === 'failed') world.counters.tccsCancelled++
    if (kind === 'recorded' && status === 'succeeded') world.counters.workflowsSucceeded++
    if (kind === 'recorded' && status === 'failed') world.counters.workflowsFailed++
    if (kind === 'message' && status === 'succeeded') world.counters.messagesDelivered++
    if (kind === 'message' && status === 'failed') world.counters.messagesDropped++
    if (status === 'succeeded' || status === 'failed' || status === 'stopped') world.counters[status]++
  }
}
