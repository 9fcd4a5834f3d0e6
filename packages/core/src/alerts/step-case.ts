import type { AlertRule, AlertState as ToldState } from '@counterstep/protocol'
import type { AlertCase } from './alert-state.ts'
import type { AlertFinding } from './find-alerts.ts'

/** One thing is told at most once in this time. */
export const TELL_EVERY_MS = 15 * 60_000
/** A thing that has not been seen for so long is over. */
export const OVER_AFTER_MS = 2 * 60_000
/** It is told again once its count is this many times what was told last. */
export const GROWN_TIMES = 10

/** An event that happens once has no end that is worth a message. */
const TELLS_OVER: Readonly<Record<AlertRule, boolean>> = {
  attention: true,
  failed: true,
  stuck: true,
  paused: true,
  store: false,
  bulk: false,
}

export interface CaseStep {
  /** Undefined: it is forgotten. */
  readonly next: AlertCase | undefined
  readonly tell?: ToldState
}

/** Decides about one thing that was known, or is found now, or both. */
export function stepCase(
  known: AlertCase | undefined,
  found: AlertFinding | undefined,
  now: number,
): CaseStep {
  if (found === undefined) return known === undefined ? { next: undefined } : stepUnseen(known, now)
  const { quietSince: _, ...seen } = known ?? beginCase(found, now)
  if (seen.stage === 'open') return stepOpen(seen, found, now)
  // A thing that comes back after it was over begins anew.
  const begun = seen.stage === 'over' ? beginAgain(seen, found, now) : seen
  const isDue = now - begun.firstAt >= found.holdMs && mayTell(begun, now)
  if (!isDue) return { next: begun }
  return { next: { ...begun, stage: 'open', toldAt: now, toldCount: found.count }, tell: 'open' }
}

function stepOpen(open: AlertCase, found: AlertFinding, now: number): CaseStep {
  const hasGrown = found.count >= open.toldCount * GROWN_TIMES
  if (!hasGrown || !mayTell(open, now)) return { next: open }
  return { next: { ...open, toldAt: now, toldCount: found.count }, tell: 'grown' }
}

function stepUnseen(known: AlertCase, now: number): CaseStep {
  switch (known.stage) {
    case 'waiting':
      // It was told before, so it is remembered until it may be told again.
      return { next: mayTell(known, now) ? undefined : { ...known, stage: 'over' } }
    case 'over':
      return { next: mayTell(known, now) ? undefined : known }
    case 'open': {
      const { quietSince = now } = known
      const quiet = { ...known, quietSince }
      if (now - quietSince < OVER_AFTER_MS) return { next: quiet }
      if (!TELLS_OVER[known.rule]) return { next: { ...known, stage: 'over' } }
      if (!mayTell(known, now)) return { next: quiet }
      return { next: { ...known, stage: 'over', toldAt: now }, tell: 'over' }
    }
  }
}

function beginCase({ rule, subject, since = 0 }: AlertFinding, now: number): AlertCase {
  return { rule, subject, stage: 'waiting', firstAt: now, since: since === 0 ? now : since, toldCount: 0 }
}

function beginAgain({ toldAt }: AlertCase, found: AlertFinding, now: number): AlertCase {
  return { ...beginCase(found, now), ...(toldAt === undefined ? {} : { toldAt }) }
}

function mayTell({ toldAt }: AlertCase, now: number): boolean {
  return toldAt === undefined || now - toldAt >= TELL_EVERY_MS
}
