/** Decides what a bulk job does next. The engine gives the commands and reads the fates back. */
import type { BulkState } from '@counterstep/protocol'
import {
  BULK_CANARY_SHARE_MIN,
  BULK_READ_BACK_MS,
  BULK_REFUSED_SHARE_MAX,
  BULK_REFUSED_WINDOW,
  BULK_WATCH_MS,
  type BulkJob,
  type BulkPart,
  hasBulkEnded,
} from './bulk-job.ts'

/** So many commands are given between two saves of the job. A crash repeats them, which changes nothing. */
export const BULK_GIVE_MAX = 100

export type BulkStep =
  /** Give the command to these, by their positions in the whole list. */
  | { readonly type: 'give'; readonly positions: readonly number[] }
  | { readonly type: 'enter'; readonly state: BulkState; readonly pausedBy?: 'canary' | 'refusals' }
  /** There is nothing to do now but to read the fates back. */
  | { readonly type: 'wait' }
  /** The job needs no node. */
  | { readonly type: 'rest' }

export function planBulk(job: BulkJob, parts: readonly BulkPart[], now: number): BulkStep {
  const fates = parts.map((part) => part.fates).join('')
  switch (job.state) {
    case 'canary':
      return planCanary(job, fates)
    case 'watching':
      return planWatch(job, fates, now)
    case 'running':
      return planRun(job, fates)
    case 'reading-back':
      return fates.includes('g') && now < job.stateSince + BULK_READ_BACK_MS
        ? { type: 'wait' }
        : { type: 'enter', state: 'done' }
    case 'paused':
    case 'done':
    case 'cancelled':
      return { type: 'rest' }
  }
}

function planCanary(job: BulkJob, fates: string): BulkStep {
  const positions = chooseNext(job, fates.slice(0, job.canary))
  return positions.length > 0 ? { type: 'give', positions } : { type: 'enter', state: 'watching' }
}

/** A canary that was refused, or has not been answered in time, has not got on. */
function planWatch({ canary, stateSince }: BulkJob, fates: string, now: number): BulkStep {
  const canaries = fates.slice(0, canary)
  if (canaries.includes('g') && now < stateSince + BULK_WATCH_MS) return { type: 'wait' }
  const gotOn = canaries.split('o').length - 1
  return gotOn >= canaries.length * BULK_CANARY_SHARE_MIN
    ? { type: 'enter', state: 'running' }
    : { type: 'enter', state: 'paused', pausedBy: 'canary' }
}

function planRun(job: BulkJob, fates: string): BulkStep {
  const first = fates.indexOf('w')
  if (first === -1) return { type: 'enter', state: 'reading-back' }
  const recent = fates.slice(Math.max(job.countedFrom, first - BULK_REFUSED_WINDOW), first)
  const refused = recent.split('r').length - 1
  if (recent.length === BULK_REFUSED_WINDOW && refused > BULK_REFUSED_WINDOW * BULK_REFUSED_SHARE_MAX)
    return { type: 'enter', state: 'paused', pausedBy: 'refusals' }
  return { type: 'give', positions: chooseNext(job, fates) }
}

/** Lets a person pause, resume or cancel the job. Undefined: the job has ended, or is so already. */
export function commandBulk(
  job: BulkJob,
  parts: readonly BulkPart[],
  command: 'pause' | 'resume' | 'cancel',
  now: number,
): BulkJob | undefined {
  if (hasBulkEnded(job)) return undefined
  // Without a lease, the first node that looks goes on.
  const { pausedBy: _, lease: __, ...rest } = job
  switch (command) {
    case 'cancel':
      return { ...rest, state: 'cancelled', stateSince: now }
    case 'pause':
      return job.state === 'paused'
        ? undefined
        : { ...rest, state: 'paused', pausedBy: 'person', stateSince: now }
    case 'resume': {
      if (job.state !== 'paused') return undefined
      const fates = parts.map((part) => part.fates).join('')
      const first = fates.indexOf('w')
      const state = toResumedState(job, first)
      return { ...rest, state, stateSince: now, countedFrom: first === -1 ? fates.length : first }
    }
  }
}

/** `first` is the first one that waits. Who resumes a job that its canaries have paused takes what they showed for good enough. */
function toResumedState({ canary, pausedBy }: BulkJob, first: number): BulkState {
  if (first !== -1 && first < canary) return 'canary'
  return first === canary && pausedBy === 'person' ? 'watching' : 'running'
}

/** Chooses the next ones that wait, as many as the rate allows in a second, the canaries too. */
function chooseNext({ ratePerSecond }: BulkJob, fates: string): number[] {
  const waiting = [...fates].flatMap((fate, position) => (fate === 'w' ? [position] : []))
  return waiting.slice(0, Math.min(BULK_GIVE_MAX, ratePerSecond))
}
