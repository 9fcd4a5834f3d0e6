/**
 * Tells targets with a filter of things that are open already. Samples are few, so that those of others may have hidden what such
 * a target asks for, or what it asks for came later. The engine reads what the filters ask for, page by page.
 */
import type { Tags } from '../ports/store.ts'
import { ALERT_PENDING_MAX, type AlertCase, type AlertState, cutSubject } from './alert-state.ts'
import type { AlertFinding } from './find-alerts.ts'
import { type AlertSample, type AlertTargetRules, type QueueOptions, toAlertGid } from './fold-alerts.ts'
import { countForTarget } from './target-hours.ts'

/** Asks for transactions that need a person, of a name or of any, and with all of the tags. */
export interface AlertFilter {
  readonly target: AlertTargetRules
  readonly name?: string
  readonly tags?: Tags
}

/** A transaction that a filter has met. */
export interface FilteredSample extends AlertSample {
  readonly problem?: string
}

/** Lists the filters of targets that some open problem was not told to, one for each of their names. */
export function listLateFilters(
  { cases, hours }: AlertState,
  targets: readonly AlertTargetRules[],
  now: number,
): readonly AlertFilter[] {
  return targets
    .filter((target) => hasFilter(target) && cases.some((each) => isUntold(each, target)))
    .filter(({ name }) => countForTarget(hours, name, now).isSent)
    .flatMap((target) => {
      const tags = target.tags === undefined ? {} : { tags: target.tags }
      return target.names?.map((name) => ({ target, name, ...tags })) ?? [{ target, ...tags }]
    })
}

/** Puts each open problem of the samples before the target of the filter, if it was not told of it. */
export function queueLateAlerts(
  state: AlertState,
  { target }: AlertFilter,
  samples: readonly FilteredSample[],
  findings: readonly AlertFinding[],
  options: QueueOptions,
): AlertState {
  return state.cases.reduce((queued, each) => {
    const ofCase = samples.filter(
      ({ problem }) => problem !== undefined && cutSubject(problem) === each.subject,
    )
    const finding = findings.find(({ rule, subject }) => rule === each.rule && subject === each.subject)
    if (ofCase.length === 0 || finding === undefined || !isUntold(each, target)) return queued
    return queueLateAlert(queued, each, target, { samples: ofCase, count: finding.count }, options)
  }, state)
}

/** One that has no room is left for a later look, and counts nowhere. */
function queueLateAlert(
  state: AlertState,
  told: AlertCase,
  { name }: AlertTargetRules,
  { samples, count }: { readonly samples: readonly AlertSample[]; readonly count: number },
  { now, hash, shownMax }: QueueOptions,
): AlertState {
  const { rule, subject: problem, since, toldTo = [] } = told
  const { hours, isSent } = countForTarget(state.hours, name, now)
  if (!isSent || state.pending.length >= ALERT_PENDING_MAX) return state
  const names = new Set(samples.flatMap(({ name: of }) => (of === undefined ? [] : [of])))
  return {
    cases: state.cases.map((each) => (each === told ? { ...each, toldTo: [...toldTo, name] } : each)),
    hours,
    pending: [
      ...state.pending,
      {
        ...{ rule, state: 'open', problem, count, since },
        names: [...names].slice(0, shownMax),
        sampleGids: samples.slice(0, shownMax).map(({ gid }) => gid),
        // The alert that others got may be in the same window, and has the gid of the problem alone.
        gid: toAlertGid(rule, `${problem}\n${name}`, now, hash),
        targets: [name],
        decidedAt: now,
      },
    ],
  }
}

function hasFilter({ names, tags }: AlertTargetRules): boolean {
  return names !== undefined || tags !== undefined
}

/** A case that does not say who was told was told to all. */
function isUntold({ rule, stage, toldTo }: AlertCase, { name, rules }: AlertTargetRules): boolean {
  const isOpenProblem = rule === 'attention' && stage === 'open' && rules.includes(rule)
  return isOpenProblem && toldTo !== undefined && !toldTo.includes(name)
}
