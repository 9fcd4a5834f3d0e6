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
    if (!isActive) setText(written)
  }, [written, isActive])
  const read = parse(text)
  const change = (next: string) => {
    setText(next)
    const parsed = parse(next)
    if (parsed.isJson) onChange(parsed.value)
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

function parse(text: string): { readonly isJson: boolean; readonly value?: JsonValue } {
  if (text.trim() === '') return { isJson: true }
  try {
    const value = JSON.parse(text) as JsonValue
    // A longer number would be sent as another one.
    return findJsonFault(text) === undefined ? { isJson: true, value } : { isJson: false }
  } catch {
    // A person is still typing.
    return { isJson: false }
  }
}
