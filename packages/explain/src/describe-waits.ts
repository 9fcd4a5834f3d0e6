import type { PlanView, TransactionView } from '@counterstep/protocol'
import { describeOutcome } from './describe-outcome.ts'
import { listOps } from './find-troubled-op.ts'
import { readOutcome } from './read-outcome.ts'
import { readService } from './read-service.ts'

/** Says whom a planned command will wait for, and how they answered last. `view` is the transaction before the command. */
export function describeWaits({ waitsFor }: PlanView, view: TransactionView | undefined): string | undefined {
  if (waitsFor.length === 0) return undefined
  return `It will wait for ${waitsFor.map((service) => `${service}, ${describeLast(service, view)}`).join('; and for ')}.`
}

function describeLast(service: string, view: TransactionView | undefined): string {
  const op = (view === undefined ? [] : listOps(view))
    .map((placed) => placed.op)
    .find((each) => each.result === 'unknown' && each.state !== 'succeeded' && readService(each) === service)
  if (op === undefined) return 'which gave no usable answer to the last attempt'
  const outcome = readOutcome(op)
  return /^\d{3}$/.test(outcome) ? `whose last answer was ${outcome}` : `which ${describeOutcome(outcome)}`
}
