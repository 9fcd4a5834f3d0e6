import type { ReactNode } from 'react'
import { ApiError } from '../api/client.ts'

interface NoticeProps {
  readonly title: string
  readonly children?: ReactNode
  readonly tone?: 'plain' | 'bad'
}

/** A screen shows it where it has nothing else to show. */
export function Notice({ title, children, tone = 'plain' }: NoticeProps) {
  return (
    <section className="notice" data-tone={tone}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}

interface TroubleProps {
  readonly error: Error
  readonly what: string
  readonly onRetry?: () => void
}

/** A refusal in the server's own words, or the plain statement that the server does not have this part. */
export function Trouble({ error, what, onRetry }: TroubleProps) {
  if (error instanceof ApiError && error.isMissingRoute) {
    return (
      <Notice title={`This server does not show ${what}`}>
        <p>It has no such route. A newer server, or another setting of this one, may have it.</p>
      </Notice>
    )
  }
  return (
    <Notice title={`${capitalise(what)} cannot be shown`} tone="bad">
      <ProblemText error={error} />
      {onRetry === undefined ? null : (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </Notice>
  )
}

/** The code, the text, every fault and the id under which the server's log has the request. */
export function ProblemText({ error }: { readonly error: Error }) {
  const { code, faults, requestId } =
    error instanceof ApiError ? error : { code: '', faults: [], requestId: undefined }
  return (
    <div className="problem-text" role="alert">
      <p>
        {code === '' ? null : <code>{code}</code>} {error.message}
      </p>
      {faults.length === 0 ? null : (
        <ul>
          {faults.map(({ code: each, path, message }) => (
            <li key={`${path} ${each} ${message}`}>
              <code>{path === '' ? 'body' : path}</code> {message} <code className="quiet">{each}</code>
            </li>
          ))}
        </ul>
      )}
      {requestId === undefined ? null : <p className="quiet">request {requestId}</p>}
    </div>
  )
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
