/**
 * Ends a generation of a workflow and begins the next one. This drops the steps of the one that ends, so each of them must have
 * its outcome: what is dropped is never undone. The new one shares no slot and no branch id with those before it, since late
 * copies of their calls may still come.
 */
import { SIGNALS_TAKEN_MAX } from '@counterstep/protocol'
import { EARLIER, firstPlan, type Signal, type WorkflowTransaction } from '../transaction.ts'
import { findValue } from '../values/build-plan-call.ts'
import { withoutAttention } from './op-progress.ts'
import { findFreeSlot } from './workflow-steps.ts'

type Submitted = Extract<WorkflowTransaction, { readonly status: 'submitted' }>

export function beginGeneration(workflow: Submitted, input: string, now: number): Submitted {
  const { definition, generation, granted = 0, signals } = workflow
  const slots = Math.max(granted, findFreeSlot(workflow) - 1)
  return {
    ...withoutAttention(workflow),
    generation: { number: (generation?.number ?? 1) + 1, at: now, input, slots },
    plan: firstPlan(now),
    ...{ steps: [], branches: [], order: [], seenAt: [], updatedAt: now },
    ...(definition.grants === undefined ? {} : { granted: slots + definition.grants }),
    ...(signals === undefined ? {} : { signals: carrySignals(workflow, signals) }),
  }
}

/** Carries the signals over. Of those that earlier generations have seen only the newest are remembered. */
function carrySignals(workflow: Submitted, signals: readonly Signal[]): readonly Signal[] {
  const carried = signals.map((signal) => carrySignal(workflow, signal))
  const isSeen = ({ takenBy }: Signal) => takenBy === EARLIER
  const forgotten = new Set(carried.filter(isSeen).slice(0, -SIGNALS_TAKEN_MAX))
  return carried.filter((signal) => !forgotten.has(signal))
}

/** A signal that a wait has taken whose end no plan has seen is kept again: its sender was told that it counts. */
function carrySignal(workflow: Submitted, signal: Signal): Signal {
  const { takenBy, payload: lost, ...rest } = signal
  if (takenBy === undefined) return signal
  const { order, plan } = workflow
  if (takenBy === EARLIER || order.slice(0, plan.seen).includes(takenBy)) return { ...rest, takenBy: EARLIER }
  const payload = findValue(workflow, takenBy) ?? lost
  return payload === undefined ? rest : { ...rest, payload }
}
