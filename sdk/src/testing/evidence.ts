import type { BranchIds } from './branch-under-test.ts'

/**
 * A call that was sent, with what came back.
 *
 * @example
 * ```ts
 * const slowest = report.checks.flatMap((check) => check.evidence).filter((step) => step.step === 'call')
 * ```
 */
export interface SentCall extends BranchIds {
  readonly step: 'call'
  readonly op: string
  /** The call had the header `counterstep-undo: none`. */
  readonly hasNoUndo?: true
  /** This is the attempt of this branch and op, counted from 1 like the header `counterstep-attempt`. */
  readonly attempt: number
  readonly url: string
  readonly body: string
  /** The call was sent this many milliseconds after the start of the run. */
  readonly sentMs: number
  readonly answer?: { readonly statusCode: number; readonly body: string; readonly cameMs: number }
  /** Says why there is no answer. */
  readonly lost?: string
}

/**
 * One thing that a check did or saw, in order: a call, a reading of the state (as JSON), or something done to the
 * service.
 *
 * @example
 * ```ts
 * const states = report.checks[0]?.evidence.filter((step) => step.step === 'read')
 * ```
 */
export type Evidence =
  | SentCall
  | (BranchIds & { readonly step: 'read'; readonly state: string })
  | {
      readonly step: 'did'
      readonly what: 'lingers' | 'spend' | 'drain' | 'outage begins' | 'outage ends' | 'tidies up'
    }

const SHOWN_CHARACTERS_MAX = 160

export function renderEvidence(evidence: readonly Evidence[]): string[] {
  return evidence.map((step, at) => `${String(at + 1).padStart(3)}. ${renderStep(step)}`)
}

function renderStep(step: Evidence): string {
  if (step.step === 'did') return `-- ${step.what}`
  if (step.step === 'read') return `read (${step.gid}) → ${shown(step.state)}`
  const { op, gid, branchId, attempt, body, sentMs, answer, lost } = step
  const mark = step.hasNoUndo === true ? ', counterstep-undo: none' : ''
  const call = `${op} of ${gid}/${branchId}${mark}, attempt ${attempt}, sent at ${Math.round(sentMs)} ms`
  const outcome =
    answer === undefined
      ? `no answer: ${lost ?? 'not yet'}`
      : `${answer.statusCode} ${shown(answer.body)} at ${Math.round(answer.cameMs)} ms`
  return `${call}, ${shown(body)} → ${outcome}`
}

function shown(text: string): string {
  return text.length <= SHOWN_CHARACTERS_MAX ? text : `${text.slice(0, SHOWN_CHARACTERS_MAX)}…`
}
