import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { Notice, ProblemText } from './notice.tsx'

export function Lost() {
  return (
    <Notice title="There is no such screen">
      <p>
        The address leads nowhere. <Link to="/list">See the transactions</Link>
      </p>
    </Notice>
  )
}

/** One screen that fails leaves the others usable. */
export function ScreenFailed({ error, reset }: ErrorComponentProps) {
  return (
    <Notice title="This screen has failed" tone="bad">
      <ProblemText error={error instanceof Error ? error : new Error(String(error))} />
      <button type="button" onClick={reset}>
        Try again
      </button>
    </Notice>
  )
}
