import { findStatusGlyph } from '@counterstep/explain'

/** A status by glyph and word. One that this console does not know is shown as its word. */
export function StatusMark({ status }: { readonly status: string }) {
  return (
    <span className="status" data-status={status}>
      <span className="glyph" aria-hidden="true">
        {findStatusGlyph(status)}
      </span>
      {status}
    </span>
  )
}

const MARKS = {
  attention: ['⚠', 'needs a person'],
  retrying: ['↻', 'retrying'],
  paused: ['‖', 'paused'],
  byHand: ['☞', 'by hand'],
  edited: ['✎', 'edited'],
} as const

export type MarkName = keyof typeof MARKS

export function Mark({ name, isShort = false }: { readonly name: MarkName; readonly isShort?: boolean }) {
  const [glyph, words] = MARKS[name]
  return (
    <span className="mark" data-mark={name} title={words}>
      <span className="glyph" aria-hidden="true">
        {glyph}
      </span>
      {isShort ? <span className="unseen">{words}</span> : words}
    </span>
  )
}
