import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { checkDraft, submitDraft } from './send-draft.ts'

/** Checking changes nothing. After a submit the transaction is shown. */
export function useSending() {
  const navigate = useNavigate()
  const check = useMutation({ mutationFn: checkDraft })
  const submit = useMutation({
    mutationFn: submitDraft,
    onSuccess: (gid) => void navigate({ to: '/tx/$gid', params: { gid } }),
  })
  return { check, submit }
}

export type Sending = ReturnType<typeof useSending>
