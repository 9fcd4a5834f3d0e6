import type { PlannedCall, PlanView, PreviewRequest, TransactionView } from '@counterstep/protocol'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { readServerTime } from '../api/clock.ts'
import { drawCommandId, giveCommand, previewCommand } from '../api/commands.ts'
import { transactionKey } from '../api/queries.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ProblemText } from '../parts/notice.tsx'
import type { CommandBody, CommandTarget } from './command-target.ts'
import '../style/dialog.css'
import { CommandFields } from './command-fields.tsx'
import { describeConsequence, nameCommand, needsReason } from './command-words.ts'
import { CopyAs } from './copy-as.tsx'
import { Outcome } from './outcome.tsx'
import { Plan } from './plan.tsx'
import { Confirmation, Reason } from './reason.tsx'

interface CommandDialogProps {
  readonly target: CommandTarget
  readonly view: TransactionView
  readonly onClose: () => void
}

/** One dialog for all commands. The server's plan says what will happen, and what it needs to be told. */
export function CommandDialog({ target, view, onClose }: CommandDialogProps) {
  const [commandId] = useState(drawCommandId)
  const [fields, setFields] = useState<CommandBody>(target.command === 'skip' ? { doneBy: 'service' } : {})
  const [reason, setReason] = useState('')
  const [isConfirmed, confirm] = useState(false)
  const plan = usePlan(target, fields)
  const give = useGive(target)
  const wantsReason = needsReason(target.command) || plan.data?.needs.includes('reason') === true
  const wantsConfirm = plan.data?.needs.includes('confirm') === true
  const cannotUndo = plan.data?.cannotUndo.length ?? 0
  const body: CommandBody = {
    ...fields,
    ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
    ...(isConfirmed && wantsConfirm ? { confirm: 'no-call-took-effect' } : {}),
  }
  const isReady =
    (!wantsReason || reason.trim() !== '') &&
    (isConfirmed || (!wantsConfirm && cannotUndo === 0)) &&
    plan.data?.refusal === undefined &&
    (target.command !== 'edit' || Object.keys(fields).length > 0) &&
    !give.isPending
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const planId = plan.data === undefined ? {} : { planId: plan.data.planId }
    give.mutate({ ...body, commandId, ...planId })
  }
  const title = nameCommand(target)
  if (give.data !== undefined) {
    return (
      <Dialog title={title} onClose={onClose}>
        <Outcome view={view} givenAt={give.data.givenAt} commandId={commandId} onClose={onClose} />
      </Dialog>
    )
  }
  return (
    <Dialog title={`${title}?`} onClose={onClose}>
      <form onSubmit={submit} className="command">
        <p>{describeConsequence(target.command)}</p>
        <CommandFields target={target} fields={fields} onChange={setFields} />
        <Plan plan={showEditedUrl(plan.data, target, fields)} view={view} error={plan.error} />
        {plan.data?.refusal === undefined ? (
          <>
            <Reason value={reason} isRequired={wantsReason} onChange={setReason} />
            <Confirmation
              needsWord={wantsConfirm}
              cannotUndo={cannotUndo > 0}
              isConfirmed={isConfirmed}
              onChange={confirm}
            />
          </>
        ) : null}
        {give.error === null ? null : <ProblemText error={give.error} />}
        <footer>
          <CopyAs target={target} body={body} />
          <span className="space" />
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="submit"
            className="primary"
            data-tone={target.command}
            disabled={!isReady}
            title={title}
          >
            {give.isPending ? 'Giving it …' : title}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

function usePlan(target: CommandTarget, fields: CommandBody) {
  const asked = { ...readDoneBy(fields.doneBy), ...readUntil(fields.until) }
  return useQuery({
    queryKey: ['plan', target, asked],
    queryFn: () => previewCommand({ ...target, ...asked }),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

/** The server's plan is made from the record, which does not have the edit yet. */
function showEditedUrl(
  plan: PlanView | undefined,
  { op }: CommandTarget,
  { url }: CommandBody,
): PlanView | undefined {
  if (plan === undefined || op === undefined || typeof url !== 'string') return plan
  const isEdited = (call: PlannedCall) => call.branchId === op.branchId && call.op === op.op
  const steps = plan.steps.map((calls) => calls.map((call) => (isEdited(call) ? { ...call, url } : call)))
  return { ...plan, steps }
}

function readDoneBy(value: unknown): Pick<PreviewRequest, 'doneBy'> {
  return value === 'hand' || value === 'service' ? { doneBy: value } : {}
}

function readUntil(value: unknown): Pick<PreviewRequest, 'until'> {
  return typeof value === 'number' ? { until: value } : {}
}

function useGive(target: CommandTarget) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async (body: CommandBody) => {
      const view = await giveCommand(target, body)
      return { view, givenAt: readServerTime() }
    },
    onSuccess: ({ view }) => {
      client.setQueryData(transactionKey(target.gid), view)
      void client.invalidateQueries({ queryKey: ['newest'] })
      void client.invalidateQueries({ queryKey: ['problems'] })
    },
    onError: () => void client.invalidateQueries({ queryKey: ['plan', target] }),
  })
}
