/** A world of workflows: seeded programs, nodes that die, a store and a network with faults, and an operator. */
import { AssertionError, decodeTransaction, type RunSettings } from '@counterstep/core'
import { type Gid, isFinalStatus, isGid } from '@counterstep/protocol'
import { RIGHT } from '../mutants/wiring.ts'
import { WHOLE } from '../seeds/reduction.ts'
import { EVENT } from '../world/event-code.ts'
import { healFaults } from '../world/faults.ts'
import { SimStore } from '../world/sim-store.ts'
import { World } from '../world/world.ts'
import { PlanHandler, RIGHT_HANDLER } from './plan-handler.ts'
import { drawProgram, type Program } from './program.ts'
import { Services } from './services.ts'
import { WorkflowAudit, type WorkflowViolation } from './workflow-audit.ts'
import { findMutant } from './workflow-mutants.ts'
import { WorkflowNetwork } from './workflow-network.ts'
import { WorkflowNode } from './workflow-node.ts'

export interface WorkflowResult {
  readonly violations: readonly WorkflowViolation[]
  readonly counts: Readonly<Record<string, number>>
  readonly events: number
  readonly trace: readonly string[]
}

const FAULTY_MS = 5_000
/** From the heal, everything must have ended within this time. Back-offs that have grown long are in it. */
const ENDS_WITHIN_MS = 90_000
const LEASE_MS = 1_500

export function simulateWorkflows(seed: number, mutantName?: string, trace = false): WorkflowResult {
  const world = new World(seed, RIGHT, trace, WHOLE)
  // The loss of a tail and wrong clocks are the business of the other worlds.
  world.faults = { ...world.faults, loseTail: 0, clockDrift: 0, clockJumps: 0, poison: 0 }
  const audit = new WorkflowAudit(world)
  const store = new SimStore(world, audit)
  const services = new Services(world, audit)
  audit.watch(store, services)
  const { random } = world
  const settings: RunSettings = {
    leaseMs: LEASE_MS,
    holdMs: random.between(50, 500),
    retentionMs: 'never',
    releaseKeepsSentList: true,
  }
  const programs = new Map<string, Program>()
  const mutant = findMutant(mutantName)
  const handler = new PlanHandler(world, audit, services, programs, { ...RIGHT_HANDLER, ...mutant.handler })
  const network = new WorkflowNetwork(world, audit, services, handler)
  const parts = { world, store, audit, network, settings, mutant }
  const nodes = Array.from(
    { length: random.between(1, 3) },
    (_, index) => new WorkflowNode(`n${index}`, parts),
  )
  for (const node of nodes) node.start()
  const gids = Array.from({ length: random.between(1, 4) }, (_, index) => toGid(`f${index}`))
  for (const gid of gids) startOne(world, nodes, programs, audit, gid)
  const changed = world.getRandom('deploy').chance(0.25) ? gids : []
  for (const gid of changed) handler.deploy(gid, () => world.getRandom('deploy').chance(0.5))
  for (let crash = 0; crash < world.faults.crashes; crash++) {
    planCrash(world, nodes)
    planKill(world, handler)
  }
  world.after(FAULTY_MS, EVENT.nemesis, () => {
    world.faults = healFaults(world.faults)
    world.isHealed = true
    if (changed.length > 0) handler.kill(0)
    for (const gid of changed) {
      const program = programs.get(gid)
      if (program !== undefined) handler.deploy(gid, () => isNewNeeded(gid, program, store, services))
    }
    for (const node of nodes) node.start()
  })
  const isOver = () => gids.every((gid) => isFinalStatus(store.read(gid)?.status ?? 'stopped'))
  const look = () => {
    for (const gid of gids) abortIfLost(gid, store, audit, nodes)
    world.isQuiet = (isOver() && world.now > FAULTY_MS + LEASE_MS) || world.now > FAULTY_MS + ENDS_WITHIN_MS
    if (!world.isQuiet) world.after(250, EVENT.nemesis, look)
  }
  world.after(FAULTY_MS, EVENT.nemesis, look)
  runEvents(world, audit)
  for (const gid of gids) audit.checkEnd(gid, services)
  const statuses = gids.map((gid) => store.read(gid)?.status ?? 'never stored')
  return {
    violations: audit.violations,
    counts: { ...countAll(statuses), ...services.counts },
    events: world.events,
    trace: world.trace.lines,
  }
}

function countAll(statuses: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

function runEvents(world: World, audit: WorkflowAudit): void {
  for (;;) {
    try {
      if (!world.step()) return
    } catch (error: unknown) {
      if (!(error instanceof AssertionError)) throw error
      audit.report('assertion', '-', error.message)
    }
  }
}

function startOne(
  world: World,
  nodes: readonly WorkflowNode[],
  programs: Map<string, Program>,
  audit: WorkflowAudit,
  gid: Gid,
): void {
  const random = world.getRandom(`program ${gid}`)
  const grants = random.chance(0.5) ? undefined : random.between(1, 8)
  programs.set(gid, drawProgram(random, gid, grants !== undefined))
  const retry = {
    initialMs: random.between(20, 100),
    factor: 2,
    capMs: random.between(300, 1_500),
    jitter: 1,
  }
  const submission = {
    gid,
    ack: 'durable',
    content: gid,
    definition: {
      kind: 'workflow',
      workflow: 'program',
      handler: 'http://handler.test/',
      input: 'null',
      headers: {},
      retry: { ...retry, limit: random.chance(0.15) ? random.between(1, 4) : null },
      timeoutMs: random.between(100, 400),
      checkpointMs: random.chance(0.2) ? 0 : random.between(20, 800),
      ...(random.chance(0.25) ? { deadlineMs: random.between(100, 6_000) } : {}),
      ...(grants === undefined ? {} : { version: 1, grants }),
    },
  } as const
  const anyNode = () => nodes[random.between(0, nodes.length - 1)]
  const submit = () => {
    const node = anyNode()
    if (node?.isUp === true) node.submit(gid, submission)
    else world.after(100, EVENT.client, submit)
  }
  world.after(random.between(0, 1_500), EVENT.client, submit)
  if (random.chance(0.2))
    world.after(random.between(0, FAULTY_MS), EVENT.client, () => {
      audit.log(gid).abortAsked = true
      anyNode()?.command(gid, { type: 'abort-asked' })
    })
  for (let id = random.between(0, 3); id > 0; id--)
    world.after(random.between(0, FAULTY_MS), EVENT.client, () => {
      const signal = { name: 's', id: `${id}`, digest: `${id}`, payload: `${id}` }
      anyNode()?.command(gid, { type: 'signal-asked', signal })
    })
}

function planCrash(world: World, nodes: readonly WorkflowNode[]): void {
  const random = world.getRandom('crashes')
  world.after(random.between(100, FAULTY_MS - 500), EVENT.nemesis, () => {
    const node = nodes[random.between(0, nodes.length - 1)]
    if (node?.isUp !== true) return
    node.crash()
    world.counters.crashes++
    world.after(random.between(50, 1_500), EVENT.nemesis, () => node.start())
  })
}

function planKill(world: World, handler: PlanHandler): void {
  const random = world.getRandom('kills')
  for (let kills = random.between(1, 10); kills > 0; kills--)
    world.after(random.between(100, FAULTY_MS - 500), EVENT.nemesis, () =>
      handler.kill(random.between(0, 100)),
    )
}

/** An operator deploys the code by which the record goes on, or else that of a slot which may have run. */
function isNewNeeded(gid: Gid, { renamedFrom }: Program, store: SimStore, services: Services): boolean {
  const row = store.read(gid)
  const workflow = row === undefined ? undefined : decodeTransaction(row)
  if (workflow?.kind !== 'workflow') return false
  const recorded = workflow.steps.filter(({ is }) => is === 'step')
  const isCurrent = (slot: string) => Number(slot.slice(1)) > (workflow.generation?.slots ?? 0)
  const rows = services.listSlots(gid).flatMap(([slot, { step }]) => (isCurrent(slot) ? (step ?? []) : []))
  const isRenamed = ({ id }: { readonly id: string }) => Number(/^s(\d+)/.exec(id)?.[1] ?? -1) >= renamedFrom
  const decisive = [...recorded, ...rows].find(isRenamed)
  return decisive?.name?.endsWith('new') === true
}

/** An operator aborts what is not planned further, because an answer has no room in the journal. */
function abortIfLost(gid: Gid, store: SimStore, audit: WorkflowAudit, nodes: readonly WorkflowNode[]): void {
  const row = store.read(gid)
  const attention = row === undefined ? undefined : decodeTransaction(row).attention
  if (row?.status !== 'submitted' || attention?.includes('has no room in the journal') !== true) return
  audit.log(gid).abortAsked = true
  nodes[0]?.command(gid, { type: 'abort-asked' })
}

function toGid(text: string): Gid {
  if (!isGid(text)) throw new TypeError(`not a gid: ${text}`)
  return text
}
