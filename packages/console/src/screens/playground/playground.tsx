import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useLive } from '../../api/live.ts'
import { requestQuery } from '../../api/queries.ts'
import { ProblemText } from '../../parts/notice.tsx'
import '../../style/playground.css'
import { CodeBox } from './code-box.tsx'
import { createFirstDraft, type Draft, readDraft, writeDraft } from './draft.ts'
import { DraftForm } from './draft-form.tsx'
import { SendBar } from './send-bar.tsx'
import { useSending } from './use-sending.ts'

/** A transaction by a form or as JSON: both are the same text. */
export function Playground() {
  useLive(['fresh'])
  const { from } = useSearch({ from: '/new' })
  const request = useQuery({ ...requestQuery(from ?? ''), enabled: from !== undefined })
  const [text, setText] = useState(() =>
    writeDraft(createFirstDraft(location.hostname, Number(location.port))),
  )
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
        <div className="right-half">
          <CodeBox text={text} fault={fault} draft={draft} onChange={setText} />
          <SendBar draft={draft} check={check} submit={submit} />
        </div>
      </div>
    </section>
  )
}

function withoutGid({ gid: _gid, ...others }: Draft): Draft {
  return others
}
