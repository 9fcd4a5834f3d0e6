import type { Status } from '@counterstep/protocol'

const GLYPHS: Readonly<Record<Status, string>> = {
  prepared: '◷',
  submitted: '▶',
  aborting: '◀',
  succeeded: '✓',
  failed: '↺',
  stopped: '■',
}

/** Finds the glyph of a status. A newer server may have further statuses, which get a question mark. */
export function findStatusGlyph(status: string): string {
  return Object.entries(GLYPHS).find(([name]) => name === status)?.[1] ?? '?'
}
