import { readServerTime } from '../api/clock.ts'
import type { CommandBody, CommandTarget } from './command-target.ts'
import { EditFields } from './edit-fields.tsx'

interface FieldsProps {
  readonly target: CommandTarget
  readonly fields: CommandBody
  readonly onChange: (fields: CommandBody) => void
}

/** Asks what a command wants to be told besides its reason. */
export function CommandFields({ target, fields, onChange }: FieldsProps) {
  switch (target.command) {
    case 'skip':
      return <SkipFields target={target} fields={fields} onChange={onChange} />
    case 'pause':
      return <PauseFields onChange={onChange} />
    case 'edit':
      return <EditFields target={target} onChange={onChange} />
    default:
      return null
  }
}

const DONE_BY = [
  [
    'service',
    'The service has done it',
    'I have looked. If the transaction turns around, its compensation is called.',
  ],
  [
    'hand',
    'A person has done it elsewhere',
    'If the transaction turns around, a person must undo it by hand.',
  ],
] as const

function SkipFields({ fields, onChange }: FieldsProps) {
  return (
    <fieldset>
      <legend>Who has done it?</legend>
      {DONE_BY.map(([doneBy, words, hint]) => (
        <label key={doneBy} className="check">
          <input
            type="radio"
            name="done-by"
            checked={fields.doneBy === doneBy}
            onChange={() => onChange({ ...fields, doneBy })}
          />
          <span>
            {words} <span className="quiet">{hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

const PAUSES = [
  ['', 'until it is resumed', 0],
  ['15m', 'for 15 minutes', 15 * 60_000],
  ['1h', 'for an hour', 3_600_000],
  ['24h', 'for a day', 86_400_000],
] as const

function PauseFields({ onChange }: Pick<FieldsProps, 'onChange'>) {
  const choose = (name: string) => {
    const ms = PAUSES.find(([each]) => each === name)?.[2] ?? 0
    onChange(ms === 0 ? {} : { until: Math.round(readServerTime() + ms) })
  }
  return (
    <label className="field">
      <span>Pause it</span>
      <select defaultValue="" onChange={(event) => choose(event.target.value)}>
        {PAUSES.map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}
