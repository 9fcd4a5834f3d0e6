interface ChoiceProps<Word extends string> {
  readonly label: string
  readonly value: Word | undefined
  readonly options: readonly Word[]
  readonly words?: Readonly<Record<Word, string>>
  /** The words of the option that chooses nothing. */
  readonly none?: string
  readonly onChange: (value: Word | undefined) => void
}

export function Choice<Word extends string>({
  label,
  value,
  options,
  words,
  none,
  onChange,
}: ChoiceProps<Word>) {
  return (
    <label className="field">
      <span>{label}</span>
      <select
        value={value ?? ''}
        data-set={value !== undefined && none !== undefined}
        onChange={(event) => onChange(options.find((option) => option === event.target.value))}
      >
        {none === undefined ? null : <option value="">{none}</option>}
        {options.map((option) => (
          <option key={option} value={option}>
            {words?.[option] ?? option}
          </option>
        ))}
      </select>
    </label>
  )
}
