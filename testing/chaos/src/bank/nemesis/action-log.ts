import { appendFileSync } from 'node:fs'
import type { NemesisAction } from './nemesis-action.ts'

/** One line for each action, in milliseconds of the run: to be laid beside the logs of the processes. */
export function noteActions(path: string, runStartedAt: number) {
  return (action: NemesisAction, startedAt: number, endedAt: number): void => {
    const at = Math.round(startedAt - runStartedAt)
    const tookMs = Math.round(endedAt - startedAt)
    const endsAt = new Date().toISOString()
    appendFileSync(path, `${JSON.stringify({ at, tookMs, endsAt, ...action })}\n`)
  }
}
