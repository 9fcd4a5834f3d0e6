import { type FormEvent, useEffect, useState } from 'react'

interface TextFilterProps {
  readonly label: string
  readonly value: string | undefined
  readonly placeholder?: string
  readonly onChange: (value: string | undefined) => void
}

/** A text counts when the person leaves the field or presses Enter, so that not every letter asks the server. */
export function TextFilter({ label, value = '', placeholder, onChange }: TextFilterProps) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  const commit = (event?: FormEvent) => {
    event?.preventDefault()
    const trimmed = text.trim()
    if (trimmed !== value) onChange(trimmed === '' ? undefined : trimmed)
  }
  return (
    <form className="field" onSubmit={commit}>
      <label>
        <span>{label}</span>
        <input
          type="text"
          value={text}
          data-set={value !== ''}
          placeholder={placeholder ?? 'any'}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
          onBlur={() => commit()}
        />
      </label>
    </form>
  )
}
