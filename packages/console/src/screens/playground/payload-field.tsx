import { findJsonFault, type JsonValue } from '@counterstep/protocol'
import { useEffect, useState } from 'react'

interface PayloadFieldProps {
  readonly value: JsonValue | undefined
  readonly onChange: (value: JsonValue | undefined) => void
}

/** A payload counts whenever its text is JSON. */
export function PayloadField({ value, onChange }: PayloadFieldProps) {
  const written = value === undefined ? '' : JSON.stringify(value)
  const [text, setText] = useState(written)
  const [isActive, setActive] = useState(false)
  useEffect(() => {
    // A text with such a number stays, so that the person sees why nothing is sent of it.
    if (!isActive) setText((before) => (parse(before).isInexact === true ? before : written))
  }, [written, isActive])
  const read = parse(text)
  const change = (next: string) => {
    setText(next)
    const parsed = parse(next)
    // The beginning of a long number is another number, so it must not stay in the draft.
    if (parsed.isJson || parsed.isInexact === true) onChange(parsed.value)
  }
  return (
    <label className="text-field">
      <span>payload</span>
      <textarea
        rows={2}
        value={text}
        spellCheck={false}
        aria-invalid={!read.isJson}
        onFocus={() => setActive(true)}
        onBlur={() => setActive(false)}
        onChange={(event) => change(event.target.value)}
      />
    </label>
  )
}

interface ReadPayload {
  readonly isJson: boolean
  readonly value?: JsonValue
  /** A number in it would be sent as another one. */
  readonly isInexact?: boolean
}

function parse(text: string): ReadPayload {
  if (text.trim() === '') return { isJson: true }
  try {
    const value = JSON.parse(text) as JsonValue
    return findJsonFault(text) === undefined ? { isJson: true, value } : { isJson: false, isInexact: true }
  } catch {
    // A person is still typing.
    return { isJson: false }
  }
}
