/**
 * Sends one request to some node. The request or the answer may get lost.
 * There may be two answers: accepted, and later the end.
 */
import type { Gid } from '@counterstep/protocol'
import type { Auditor } from '../audit/auditor.ts'
import type { Node } from '../nodes/node.ts'
import { type Answer, isStatus, type Reply } from '../nodes/reply.ts'
import { EVENT } from '../world/event-code.ts'
import type { World } from '../world/world.ts'

export type Ask = (node: Node, reply: Reply) => void

export interface Asking {
  readonly world: World
  readonly auditor: Auditor
  readonly nodes: readonly Node[]
  readonly gid: Gid
}

export function askNode(
  { world, auditor, nodes, gid }: Asking,
  ask: Ask,
  answered: (answer: Answer) => void,
): void {
  const { faults } = world
  const random = world.getRandom(gid)
  const node = nodes[random.between(0, nodes.length - 1)]
  if (node === undefined || !node.isUp || random.chance(faults.requestLoss)) return
  const askedAt = world.now
  const reply: Reply = (answer) => {
    if (random.chance(world.faults.answerLoss)) return
    world.after(random.between(1, 6), EVENT.clientAnswer, () => {
      if (answer === 'absent' && auditor.log(gid).isAcknowledged)
        auditor.report('I1', gid, 'acknowledged, then absent')
      if (isStatus(answer)) auditor.clients.checkSeen(gid, answer, askedAt)
      answered(answer)
    })
  }
  world.after(random.between(1, 6), EVENT.clientArrival, () => ask(node, reply), node)
}
