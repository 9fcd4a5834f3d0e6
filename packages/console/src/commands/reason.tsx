import { useId } from 'react'

const REASON_LENGTH_MAX = 1_024

interface ReasonProps {
  readonly value: string
  readonly isRequired: boolean
  readonly onChange: (value: string) => void
}

export function Reason({ value, isRequired, onChange }: ReasonProps) {
  const id = useId()
  return (
    <div className="reason">
      <label htmlFor={id}>
        Reason, kept in the trail and the log{' '}
        <span className="quiet">{isRequired ? '(required)' : '(optional)'}</span>
      </label>
      <textarea
        id={id}
        rows={2}
        maxLength={REASON_LENGTH_MAX}
        required={isRequired}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  )
}

interface ConfirmationProps {
  /** The call may have taken effect, and the server wants to be told that it has not. */
  readonly needsWord: boolean
  readonly cannotUndo: boolean
  readonly isConfirmed: boolean
  readonly onChange: (isConfirmed: boolean) => void
}

export function Confirmation({ needsWord, cannotUndo, isConfirmed, onChange }: ConfirmationProps) {
  if (!needsWord && !cannotUndo) return null
  const words = needsWord
    ? 'I have looked at the service: no call of this op took effect'
    : 'I have seen what cannot be undone'
  return (
    <label className="check">
      <input type="checkbox" checked={isConfirmed} onChange={(event) => onChange(event.target.checked)} />
      {words}
    </label>
  )
}
