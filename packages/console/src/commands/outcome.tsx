import type { TransactionView } from '@counterstep/protocol'
import { TimeOfDay } from '../parts/instant.tsx'
import { listEffects } from './list-effects.ts'

interface OutcomeProps {
  readonly view: TransactionView
  readonly givenAt: number
  readonly commandId: string
  readonly onClose: () => void
}

const GLYPHS = { good: '✓', bad: '✗', waiting: '◷' } as const

/** The command is durable. What comes of it is shown as it is seen. */
export function Outcome({ view, givenAt, commandId, onClose }: OutcomeProps) {
  const at = view.trail?.find(({ id }) => id === commandId)?.at ?? givenAt
  const effects = listEffects(view, at)
  return (
    <div className="outcome">
      <ul aria-live="polite">
        <li data-tone="good">
          <span className="glyph">✓</span> <TimeOfDay at={at} /> given, durable
        </li>
        {effects.map((effect) => (
          <li key={effect.id} data-tone={effect.tone}>
            <span className="glyph">{GLYPHS[effect.tone]}</span>{' '}
            {effect.at === undefined ? null : <TimeOfDay at={effect.at} />} {effect.words}
          </li>
        ))}
      </ul>
      {effects.length === 0 ? (
        <p className="quiet">Nothing has answered since. This stays open until you close it.</p>
      ) : null}
      <footer>
        <span className="space" />
        <button type="button" className="primary" onClick={onClose}>
          Close
        </button>
      </footer>
    </div>
  )
}
