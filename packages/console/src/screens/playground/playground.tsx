import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useLive } from '../../api/live.ts'
import { requestQuery } from '../../api/queries.ts'
import { ProblemText } from '../../parts/notice.tsx'
import '../../style/playground.css'
import { CodeBox } from './code-box.tsx'
import { type Draft, FIRST_DRAFT, readDraft, writeDraft } from './draft.ts'
import { DraftForm } from './draft-form.tsx'
import { SendBar } from './send-bar.tsx'
import { checkDraft, submitDraft } from './send-draft.ts'

/** A transaction by a form or as JSON: both are the same text. */
export function Playground() {
  useLive([])
  const { from } = useSearch({ from: '/new' })
  const request = useQuery({ ...requestQuery(from ?? ''), enabled: from !== undefined })
  const [text, setText] = useState(() => writeDraft(FIRST_DRAFT))
  const given = request.data?.submit
  useEffect(() => {
    if (given !== undefined) setText(writeDraft(withoutGid(given as Draft)))
  }, [given])
  const { draft, fault } = readDraft(text)
  const { check, submit } = useSending()
  const change = (next: Draft) => {
    check.reset()
    submit.reset()
    setText(writeDraft(next))
  }
  return (
    <section className="playground">
      <h1>Playground</h1>
      {from !== undefined && request.error !== null ? <ProblemText error={request.error} /> : null}
      <div className="halves">
        <div>
          {draft === undefined ? (
            <p className="quiet">The JSON cannot be read yet.</p>
          ) : (
            <DraftForm draft={draft} onChange={change} />
          )}
        </div>
        <CodeBox text={text} fault={fault} draft={draft} onChange={setText} />
      </div>
      <SendBar draft={draft} check={check} submit={submit} />
    </section>
  )
}

function withoutGid({ gid: _gid, ...others }: Draft): Draft {
  return others
}

function useSending() {
  const navigate = useNavigate()
  const check = useMutation({ mutationFn: checkDraft })
  const submit = useMutation({
    mutationFn: submitDraft,
    onSuccess: (gid) => void navigate({ to: '/tx/$gid', params: { gid } }),
  })
  return { check, submit }
}

export type Sending = ReturnType<typeof useSending>
