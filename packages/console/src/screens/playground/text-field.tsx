import { useEffect, useState } from 'react'

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  readonly onChange: (text: string) => void
}

/** A text stays as it is typed, even where it reads back otherwise, until the field is left. */
export function TextField({ label, value, placeholder, onChange }: TextFieldProps) {
  const [text, setText] = useState(value)
  const [isActive, setActive] = useState(false)
  useEffect(() => {
    if (!isActive) setText(value)
  }, [value, isActive])
  return (
    <label className="text-field">
      <span>{label}</span>
      <input
        type="text"
        value={text}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        onFocus={() => setActive(true)}
        onBlur={() => setActive(false)}
        onChange={(event) => {
          setText(event.target.value)
          onChange(event.target.value)
        }}
      />
    </label>
  )
}
