import type { OpRequestView } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { requestQuery } from '../api/queries.ts'
import { ProblemText } from '../parts/notice.tsx'
import type { CommandBody, CommandTarget } from './command-target.ts'
import { type EditTexts, readEdit, toEditTexts } from './read-edit.ts'

interface EditFieldsProps {
  readonly target: CommandTarget
  readonly onChange: (fields: CommandBody) => void
}

/** The request as it is, to be changed. Only what was changed is sent. */
export function EditFields({ target, onChange }: EditFieldsProps) {
  const { data, error } = useQuery(requestQuery(target.gid))
  if (error !== null) return <ProblemText error={error} />
  const current = data?.ops.find(
    ({ branchId, op }) => branchId === target.op?.branchId && op === target.op.op,
  )
  if (data === undefined) return <p className="quiet">Reading the request …</p>
  if (current === undefined) return <p className="quiet">The server does not show the request of this op.</p>
  return <Texts current={current} onChange={onChange} />
}

function Texts({
  current,
  onChange,
}: {
  readonly current: OpRequestView
  readonly onChange: EditFieldsProps['onChange']
}) {
  const [texts, setTexts] = useState<EditTexts>(() => toEditTexts(current))
  const [fault, setFault] = useState<string>()
  const change = (changed: Partial<EditTexts>) => {
    const next = { ...texts, ...changed }
    setTexts(next)
    const read = readEdit(current, next)
    setFault(read.fault)
    if (read.fault === undefined) onChange(read.body)
  }
  return (
    <div className="edit-fields">
      {current.short === true ? (
        <p className="quiet">
          Its body and its headers are not shown, since the requests of this transaction are too large. What
          you leave as it is here stays as it is there.
        </p>
      ) : null}
      <label>
        URL
        <input
          type="text"
          value={texts.url}
          spellCheck={false}
          onChange={(event) => change({ url: event.target.value })}
        />
      </label>
      <label>
        <span>
          Body <span className="quiet">{current.contentType}</span>
        </span>
        <textarea
          rows={4}
          value={texts.body}
          spellCheck={false}
          onChange={(event) => change({ body: event.target.value })}
        />
      </label>
      <label>
        <span>
          Headers <span className="quiet">a JSON object</span>
        </span>
        <textarea
          rows={2}
          value={texts.headers}
          spellCheck={false}
          onChange={(event) => change({ headers: event.target.value })}
        />
      </label>
      <label>
        Time-out in ms
        <input
          type="number"
          min={1}
          value={texts.timeoutMs}
          onChange={(event) => change({ timeoutMs: event.target.value })}
        />
      </label>
      {fault === undefined ? null : (
        <p className="warning" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}
