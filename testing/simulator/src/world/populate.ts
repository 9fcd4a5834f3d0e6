/** Populates a world with nodes and with the clients of its transactions. */

import type { PreparedParticipants } from '../branches/prepared-participant.ts'
import { Client } from '../clients/client.ts'
import { MessageClient } from '../clients/message-client.ts'
import { Operator } from '../clients/operator.ts'
import { drawMessage, drawRecorded, drawTcc, type PreparedPlan } from '../clients/prepared-plan.ts'
import { RecordedClient } from '../clients/recorded-client.ts'
import { drawSaga, type SagaPlan } from '../clients/saga-plan.ts'
import { TccClient } from '../clients/tcc-client.ts'
import { Node, type Surroundings } from '../nodes/node.ts'
import type { Counters } from '../seeds/counters.ts'
import type { Reduction } from '../seeds/reduction.ts'
import type { World } from './world.ts'

export interface Population {
  readonly nodes: readonly Node[]
  /** The gids of the transactions that clients submit. */
  readonly gids: readonly string[]
}

export function populate(
  surroundings: Surroundings,
  participants: PreparedParticipants,
  { dropped }: Reduction,
  startMsMax: number,
): Population {
  const { world } = surroundings
  const { random } = world
  const count = random.between(2, 5)
  const sagas = Array.from({ length: count }, (_, saga) =>
    drawSaga(
      {
        random: world.getRandom(`g${saga}`),
        values: world.getRandom(`values ${saga}`),
        stages: world.getRandom(`stages ${saga}`),
      },
      saga,
      world.faults,
      world.storeNow,
    ),
  )
  const prepared = drawPrepared(world)
  const plans = [...sagas, ...prepared]
  const nodes = Array.from(
    { length: random.between(1, 3) },
    (_, position) => new Node(`n${position}`, plans, surroundings),
  )
  for (const { gid } of sagas.slice(0, world.faults.poison)) world.poisoned.add(gid)
  const asked = plans.filter(({ gid }) => !dropped.includes(gid))
  for (const plan of asked) {
    const startAt = world.getRandom(plan.gid).between(0, startMsMax)
    surroundings.auditor.register(plan)
    if (world.trace.isOn) world.trace.line(0, `${plan.gid} ${JSON.stringify(plan)}`)
    if (plan.kind === 'saga') startSaga(plan, nodes, surroundings, startAt)
    else startPrepared(plan, nodes, surroundings, participants, startAt)
    const { commands } = world.faults
    if (commands > 0) new Operator({ ...surroundings, nodes }, plan).start(commands)
  }
  for (const node of nodes) node.start()
  return { nodes, gids: asked.map(({ gid }) => gid) }
}

/** Draws TCCs, messages and recorded workflows, but not in every world, so that they cost little time beside the sagas. */
function drawPrepared(world: World): PreparedPlan[] {
  const { faults, random } = world
  const tccs = Array.from({ length: random.chance(0.5) ? random.between(1, 2) : 0 }, (_, number) =>
    drawTcc(world.getRandom(`t${number}`), number, faults),
  )
  const messages = Array.from({ length: random.chance(0.5) ? random.between(1, 2) : 0 }, (_, number) =>
    drawMessage(world.getRandom(`m${number}`), number),
  )
  const workflows = world.getRandom('workflows')
  const recorded = Array.from({ length: workflows.chance(0.4) ? workflows.between(1, 2) : 0 }, (_, number) =>
    drawRecorded(world.getRandom(`w${number}`), number),
  )
  return [...tccs, ...messages, ...recorded]
}

function startSaga(
  plan: SagaPlan,
  nodes: readonly Node[],
  { world, auditor, values }: Surroundings,
  startAt: number,
): void {
  const { counters } = world
  counters.sagas++
  counters[findShape(plan)]++
  if (world.poisoned.has(plan.gid)) counters.poisoned++
  if (plan.definition.delayMs !== undefined) counters.delayedStarts++
  if (plan.definition.checkpointMs === 0) counters.strictSagas++
  if (plan.definition.values !== undefined) counters.sagasWithValues++
  if (plan.definition.branches.some(({ role }) => role !== undefined)) counters.sagasWithRoles++
  if (plan.definition.branches.some(({ wait }) => wait !== undefined)) counters.sagasWithWaits++
  new Client(world, auditor, values, nodes, plan).start(startAt)
}

function findShape({ definition: { branches } }: SagaPlan): keyof Counters {
  if (branches.every(({ after }, branch) => branch === 0 || after.includes(branch - 1))) return 'serialSagas'
  return branches.every(({ after }) => after.length === 0) ? 'parallelSagas' : 'dagSagas'
}

function startPrepared(
  plan: PreparedPlan,
  nodes: readonly Node[],
  { world, auditor, network, store }: Surroundings,
  participants: PreparedParticipants,
  startAt: number,
): void {
  const asking = { world, auditor, nodes, gid: plan.gid }
  const log = auditor.log(plan.gid)
  if (plan.kind === 'tcc' && 'tried' in log) {
    world.counters.tccs++
    new TccClient(asking, network, plan, log).start(startAt)
  }
  if (plan.kind === 'recorded' && 'knownAt' in log) {
    world.counters.workflowsRecorded++
    new RecordedClient({ asking, store, participants }, plan, log).start(startAt)
  }
  if (plan.kind === 'message' && 'hasCommitted' in log) {
    world.counters.messages++
    new MessageClient(asking, participants, plan, log).start(startAt)
  }
}
