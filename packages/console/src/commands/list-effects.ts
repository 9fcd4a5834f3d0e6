import { listLanes } from '@counterstep/explain'
import { isFinalStatus, type TransactionView } from '@counterstep/protocol'

/** One thing that was seen since a command was given. */
export interface SeenEffect {
  readonly id: string
  readonly tone: 'good' | 'bad' | 'waiting'
  readonly words: string
  readonly at?: number
}

/** Lists the answers that came after an instant, and what is in flight. A command that is given has mended nothing yet. */
export function listEffects(view: TransactionView, givenAt: number): readonly SeenEffect[] {
  const effects = listLanes(view).flatMap(({ id, branchId, op, direction }): SeenEffect[] => {
    const name = branchId ?? op.op
    if (op.state === 'calling') return [{ id, tone: 'waiting', words: `${name} ${op.op} is being called` }]
    if (op.endedAt === undefined || op.endedAt < givenAt) return []
    if (op.state === 'succeeded') {
      return [
        { id, tone: 'good', words: `${name} is ${direction === 'undo' ? 'undone' : 'done'}`, at: op.endedAt },
      ]
    }
    const answer = op.error ?? op.statusCode ?? op.result ?? 'an unknown answer'
    return [{ id, tone: 'bad', words: `${name} ${op.op}: ${answer}`, at: op.endedAt }]
  })
  const ended = isFinalStatus(view.status)
    ? [
        {
          id: 'end',
          tone: 'good' as const,
          words: `The transaction is ${view.status}`,
          at: view.finishedAt ?? view.updatedAt,
        },
      ]
    : []
  return [...[...effects].sort((a, b) => (a.at ?? Infinity) - (b.at ?? Infinity)), ...ended]
}
