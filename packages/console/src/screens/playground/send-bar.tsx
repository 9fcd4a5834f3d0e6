import { ProblemText } from '../../parts/notice.tsx'
import type { Draft } from './draft.ts'
import type { Sending } from './use-sending.ts'

interface SendBarProps extends Sending {
  readonly draft: Draft | undefined
}

export function SendBar({ draft, check, submit }: SendBarProps) {
  const isBusy = check.isPending || submit.isPending
  const error = submit.error ?? check.error
  return (
    <footer className="send-bar">
      <div className="send-buttons">
        <button
          type="button"
          disabled={draft === undefined || isBusy}
          onClick={() => draft !== undefined && check.mutate(draft)}
        >
          Check only
        </button>
        <button
          type="button"
          className="primary"
          disabled={draft === undefined || isBusy}
          onClick={() => draft !== undefined && submit.mutate(draft)}
        >
          {submit.isPending ? 'Submitting …' : 'Submit'}
        </button>
      </div>
      {error === null ? null : <ProblemText error={error} />}
      {check.data === undefined ? null : <Faults faults={check.data} />}
    </footer>
  )
}

function Faults({ faults }: { readonly faults: NonNullable<Sending['check']['data']> }) {
  if (faults.length === 0) {
    return (
      <p className="good" role="status">
        ✓ The server finds no fault in it.
      </p>
    )
  }
  return (
    <div className="problem-text" role="alert">
      <p>The server would refuse it:</p>
      <ul>
        {faults.map(({ code, path, message }) => (
          <li key={`${path} ${code} ${message}`}>
            <code>{path === '' ? 'body' : path}</code> {message} <code className="quiet">{code}</code>
          </li>
        ))}
      </ul>
    </div>
  )
}
