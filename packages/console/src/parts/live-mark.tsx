import { useLiveState } from '../api/live.ts'

const WORDS = {
  connecting: ['○', 'connecting', 'The stream of changes is being opened.'],
  live: ['●', 'live', 'The server pushes what changes.'],
  polling: ['◌', 'polling', 'Nothing is pushed to this tab, so each screen asks every few seconds.'],
} as const

export function LiveMark() {
  const state = useLiveState()
  const [glyph, words, title] = WORDS[state]
  return (
    <span className="live-mark" data-state={state} title={title}>
      <span aria-hidden="true">{glyph}</span> <span className="words">{words}</span>
    </span>
  )
}
