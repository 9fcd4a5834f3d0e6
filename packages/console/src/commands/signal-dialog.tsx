import { findJsonFault, type JsonValue, type SignalView } from '@counterstep/protocol'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { callApi } from '../api/client.ts'
import { drawCommandId } from '../api/commands.ts'
import { toTransactionPath } from '../api/queries.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ProblemText } from '../parts/notice.tsx'
import '../style/dialog.css'

interface SignalDialogProps {
  readonly gid: string
  readonly name: string
  readonly onClose: () => void
}

/** Sends what a branch waits for, for example an approval. The payload is the branch's answer. */
export function SignalDialog({ gid, name, onClose }: SignalDialogProps) {
  const [id] = useState(drawCommandId)
  const [text, setText] = useState('')
  const sending = useMutation({ mutationFn: () => sendSignal(gid, name, id, text) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    sending.mutate()
  }
  const title = `Send the signal ${name} to ${gid}`
  if (sending.data !== undefined) {
    return (
      <Dialog title={title} onClose={onClose}>
        <p className="good" role="status">
          ✓{' '}
          {sending.data.state === 'taken'
            ? 'The wait has taken it.'
            : 'It is kept for the next wait of that name.'}
        </p>
      </Dialog>
    )
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="command" onSubmit={submit}>
        <div className="reason">
          <label htmlFor="signal-payload">
            Payload as JSON <span className="quiet">(optional)</span>
          </label>
          <textarea
            id="signal-payload"
            rows={3}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
        {sending.error === null ? null : <ProblemText error={sending.error} />}
        <footer>
          <span className="space" />
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={sending.isPending}>
            Send {name}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

function readPayload(text: string): JsonValue {
  const payload = JSON.parse(text) as JsonValue
  const fault = findJsonFault(text)
  if (fault !== undefined) throw new Error(`${fault.path || 'The payload'}: ${fault.message}`)
  return payload
}

async function sendSignal(gid: string, name: string, id: string, text: string): Promise<SignalView> {
  const payload = text.trim() === '' ? {} : { payload: readPayload(text) }
  const path = toTransactionPath(gid, `/signals/${encodeURIComponent(name)}`)
  return callApi<SignalView>(path, { method: 'POST', body: { id, ...payload } })
}
