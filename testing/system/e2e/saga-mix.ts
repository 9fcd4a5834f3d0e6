import type { SagaBranchRequest, SubmitRequest } from '@counterstep/protocol'
import { withSecrets } from '@counterstep/test-servers/with-secrets'

export interface MixedSaga {
  readonly request: SubmitRequest & { readonly gid: string }
  /** Ask for an abort so long after the accept. */
  readonly abortAfterMs?: number
}

export const ACCOUNTS = 50
const SLOW_MS_MAX = 900
const SHORT_DEADLINE_MS = 600

/** 30 % end in a business failure; a third are DAGs; some are aborted, some miss their deadline. */
export function mixedSaga(index: number, banks: readonly [string, string], random: () => number): MixedSaga {
  const gid = `kill-${String(index).padStart(3, '0')}`
  const fails = random() < 0.3
  const branches = random() < 0.33 ? dag(banks, fails, random) : serial(banks, fails, random)
  const twist = random()
  const hasDeadline = twist < 0.15
  return {
    request: withSecrets({
      gid,
      branches,
      retry: { initialMs: 50, capMs: 1_000 },
      ...(hasDeadline ? { deadlineMs: SHORT_DEADLINE_MS } : {}),
    }),
    ...(twist > 0.85 ? { abortAfterMs: Math.floor(random() * SLOW_MS_MAX) } : {}),
  }
}

type Banks = readonly [string, string]

function serial(banks: Banks, fails: boolean, random: () => number): SagaBranchRequest[] {
  const amountCents = 1 + Math.floor(random() * 1_000)
  return [
    branch('debit', banks[0], 'debit', amountCents, account(random), random),
    branch('credit', banks[1], 'credit', amountCents, fails ? 'frozen' : account(random), random),
  ]
}

/** One debit, two credits side by side, and a fee that comes and goes at the end. */
function dag(banks: Banks, fails: boolean, random: () => number): SagaBranchRequest[] {
  const half = 1 + Math.floor(random() * 500)
  const after = ['debit']
  return [
    branch('debit', banks[0], 'debit', half * 2, account(random), random),
    { ...branch('credit-1', banks[1], 'credit', half, account(random), random), after },
    { ...branch('credit-2', banks[1], 'credit', half, account(random), random), after },
    { ...branch('fee-out', banks[1], 'debit', 1, account(random), random), after: ['credit-1', 'credit-2'] },
    branch('fee-in', banks[0], 'credit', 1, fails ? 'frozen' : account(random), random),
  ]
}

function account(random: () => number): string {
  return `account-${1 + Math.floor(random() * ACCOUNTS)}`
}

function branch(
  id: string,
  bank: string,
  what: 'debit' | 'credit',
  amountCents: number,
  accountId: string,
  random: () => number,
): SagaBranchRequest {
  return {
    id,
    action: `${bank}/${what}`,
    compensation: `${bank}/${what}-undo`,
    payload: { account: accountId, amountCents, slowMs: Math.floor(random() * SLOW_MS_MAX) },
  }
}
