import { expect, it } from 'vitest'
import { answerBranch } from '../../src/http/answer-branch.ts'
import { answerQueryBack } from '../../src/http/answer-query-back.ts'
import type { BarrierCall, MessageBarrier, QueryPreparedOptions } from '../../src/index.ts'
import { answerWorkflow } from '../../src/workflow/answer-workflow.ts'
import { step } from '../../src/workflow/step.ts'
import { workflow } from '../../src/workflow/workflow.ts'
import { callUrl } from '../branch/call-url.ts'

/** A barrier that only notes the signals that it is given. */
function notingBarrier() {
  const signals: (AbortSignal | undefined)[] = []
  const barrier: MessageBarrier<undefined> = {
    run: async (call: BarrierCall) => {
      signals.push(call.signal)
      return { decision: 'null-compensation' }
    },
    queryPrepared: async (_: string, options?: QueryPreparedOptions) => {
      signals.push(options?.signal)
      return 'committed'
    },
  }
  return { barrier, signals }
}

const { signal } = new AbortController()
const common = { headers: {}, signal }

it('S40: The signal of a call in the process reaches the barrier of a branch, a query-back and an undone step', async () => {
  const { barrier, signals } = notingBarrier()
  const url = (kind: string, branchId: string, op: string) =>
    callUrl({ gid: 'g', trans_type: kind, branch_id: branchId, op })
  await answerBranch(barrier, () => undefined, { ...common, url: url('saga', '01', 'action') })
  await answerQueryBack(barrier, { ...common, url: url('message', '00', 'msg') })
  const sell = step('sell', { do: () => undefined, undo: () => undefined })
  const order = workflow('order', { version: 1, barrier, steps: [sell] }, async () => undefined)
  const payload = { v: 1, workflow: 'order', version: 1, step: 'sell' }
  await answerWorkflow([order], { ...common, url: url('workflow', 's1', 'compensate'), payload })
  expect(signals).toEqual([signal, signal, signal])
})

it('A call without a signal gives the barrier none', async () => {
  const { barrier, signals } = notingBarrier()
  const url = callUrl({ gid: 'g', trans_type: 'saga', branch_id: '01', op: 'action' })
  const { branch } = await answerBranch(barrier, () => undefined, { url, headers: {} })
  expect(signals).toEqual([undefined])
  expect(branch).not.toHaveProperty('signal')
})
