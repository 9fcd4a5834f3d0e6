import type { Fault, SubmitView, TransactionView } from '@counterstep/protocol'
import { ApiError, callApi } from '../../api/client.ts'
import { toTransactionPath } from '../../api/queries.ts'
import { type Draft, listBranches, readKind } from './draft.ts'

/** It is no gid by the grammar, so a submit with it is never accepted. */
const NEVER_ACCEPTED = '.'

/** Asks the server for every fault without submitting: the gid is one that it must refuse. */
export async function checkDraft(draft: Draft): Promise<readonly Fault[]> {
  try {
    await callApi('transactions', {
      method: 'POST',
      body: { ...withoutTccBranches(draft), gid: NEVER_ACCEPTED },
    })
  } catch (error: unknown) {
    if (!(error instanceof ApiError) || error.faults.length === 0) throw error
    return error.faults.filter(({ path }) => path !== '/gid')
  }
  return []
}

/** Submits a draft, and gives the gid. The branches of a TCC are registered one by one after it. */
export async function submitDraft(draft: Draft): Promise<string> {
  const { gid } = await callApi<SubmitView>('transactions', {
    method: 'POST',
    body: withoutTccBranches(draft),
  })
  if (readKind(draft) !== 'tcc') return gid
  for (const branch of listBranches(draft)) {
    await callApi<TransactionView>(toTransactionPath(gid, '/branches'), { method: 'POST', body: branch })
  }
  return gid
}

function withoutTccBranches(draft: Draft): Draft {
  if (readKind(draft) !== 'tcc') return draft
  const { branches: _branches, ...others } = draft
  return others
}
