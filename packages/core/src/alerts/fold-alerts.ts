/** Decides which alerts are told to whom. The engine looks for samples in between, and saves the outcome in one write. */
import { type AlertFacts, type AlertRule, WITHOUT_NAME } from '@counterstep/protocol'
import type { Tags } from '../ports/store.ts'
import {
  ALERT_CASES_MAX,
  ALERT_PENDING_MAX,
  type AlertCase,
  type AlertState,
  type PendingAlert,
} from './alert-state.ts'
import type { AlertFinding } from './find-alerts.ts'
import { type CaseStep, stepCase, TELL_EVERY_MS } from './step-case.ts'
import { countForTarget, endHours } from './target-hours.ts'

/** An alert that could not be submitted for so long is forgotten, as an undelivered one is stopped. */
export const ALERT_KEPT_MS = 24 * 3_600_000

/** Who is told, and what. Without `names` and `tags` it is told of all transactions. */
export interface AlertTargetRules {
  readonly name: string
  readonly rules: readonly AlertRule[]
  readonly names?: readonly string[]
  readonly tags?: Tags
}

/** Some of the transactions that an alert is about. */
export interface AlertSample {
  readonly gid: string
  readonly name?: string
  readonly tags?: Tags
}

/** An alert that is due, for which samples are looked up. */
export type DueAlert = Omit<AlertFacts, 'names' | 'sampleGids' | 'rule'> & { readonly rule: AlertRule }

/** Moves all cases on. At most so many alerts are due as there is room for; the others are decided at the next look. */
export function foldAlerts(
  state: AlertState,
  findings: readonly AlertFinding[],
  now: number,
): { readonly state: AlertState; readonly due: readonly DueAlert[] } {
  const known = new Map(state.cases.map((each) => [toKey(each), each]))
  const found = new Map(keepMost(findings, known).map((each) => [toKey(each), each]))
  const pending = state.pending.filter(({ decidedAt }) => now - decidedAt < ALERT_KEPT_MS)
  const cases: AlertCase[] = []
  const due: DueAlert[] = []
  for (const key of new Set([...known.keys(), ...found.keys()])) {
    const before = known.get(key)
    const finding = found.get(key)
    const step = stepCase(before, finding, now)
    const hasRoom = pending.length + due.length < ALERT_PENDING_MAX
    const next = step.tell === undefined || hasRoom ? step.next : before
    if (next !== undefined) cases.push(next)
    if (step.tell !== undefined && hasRoom) due.push(toDue(step, before, finding, now))
  }
  return { state: { ...state, cases, pending }, due }
}

function toDue(
  { next, tell = 'open' }: CaseStep,
  before: AlertCase | undefined,
  finding: AlertFinding | undefined,
  now: number,
): DueAlert {
  const told = next ?? before
  const { rule = 'attention', subject = '', since = now } = told ?? {}
  return {
    rule,
    state: tell,
    problem: subject,
    count: finding?.count ?? before?.toldCount ?? 0,
    ...(tell === 'grown' && before !== undefined ? { before: before.toldCount } : {}),
    ...(finding?.total === undefined ? {} : { total: finding.total }),
    since,
  }
}

/** Puts a due alert before the targets that want it. The count of an hour's messages decides which of them get it. */
export function queueAlert(
  state: AlertState,
  { rule, ...facts }: DueAlert,
  samples: readonly AlertSample[],
  targets: readonly AlertTargetRules[],
  { now, hash, shownMax }: QueueOptions,
): AlertState {
  let { hours } = state
  const known = state.cases.find((each) => each.rule === rule && each.subject === facts.problem)
  const names = [...new Set(samples.flatMap(({ name }) => (name === undefined ? [] : [name])))]
  const shownNames = rule === 'failed' && facts.problem !== WITHOUT_NAME ? [facts.problem] : names
  const listeners = targets.filter(({ rules }) => rules.includes(rule))
  const told: string[] = []
  for (const target of listeners) {
    // Nothing is left of what is over, so it is told to those who know of it.
    const isFor = facts.state === 'over' ? wasTold(known, target.name) : wants(target, shownNames, samples)
    if (!isFor) continue
    const counted = countForTarget(hours, target.name, now)
    hours = counted.hours
    if (counted.isSent) told.push(target.name)
  }
  const alert: PendingAlert = {
    rule,
    ...facts,
    names: shownNames.slice(0, shownMax),
    sampleGids: samples.slice(0, shownMax).map(({ gid }) => gid),
    gid: toAlertGid(rule, facts.problem, now, hash),
    targets: told,
    decidedAt: now,
  }
  const isNew = facts.state === 'open'
  const toldTo = listeners.filter(({ name }) => told.includes(name) || (!isNew && wasTold(known, name)))
  const cases = state.cases.map((each) => (each === known ? noteTold(each, toldTo, listeners.length) : each))
  return { cases, hours, pending: told.length === 0 ? state.pending : [...state.pending, alert] }
}

function wasTold(known: AlertCase | undefined, target: string): boolean {
  return known?.toldTo?.includes(target) ?? true
}

function noteTold(
  { toldTo: _, ...known }: AlertCase,
  toldTo: readonly AlertTargetRules[],
  listeners: number,
): AlertCase {
  return toldTo.length === listeners ? known : { ...known, toldTo: toldTo.map(({ name }) => name) }
}

/** Ends the hours that are over. A target for which alerts were held back is told how many, as its last message of the hour. */
export function queueDigests(state: AlertState, now: number, hash: Hash): AlertState {
  const { running, ended } = endHours(state.hours, now)
  const digests = ended.map(
    ({ target, startedAt, heldBack }): PendingAlert => ({
      rule: 'digest',
      state: 'open',
      problem: 'held-back',
      count: heldBack,
      since: startedAt,
      names: [],
      sampleGids: [],
      gid: toAlertGid('digest', target, startedAt, hash),
      targets: [target],
      decidedAt: now,
    }),
  )
  return { ...state, hours: running, pending: [...state.pending, ...digests] }
}

/** Hashes a text into letters and digits. */
export type Hash = (text: string) => string

export interface QueueOptions {
  readonly now: number
  readonly hash: Hash
  /** An alert shows so many names, and so many gids. */
  readonly shownMax: number
}

/** Two alerts about one thing are never in one window, so the gid is theirs alone, and the same on every node. */
export function toAlertGid(rule: string, subject: string, at: number, hash: Hash): string {
  return `alert-${rule}-${hash(subject)}-${Math.floor(at / TELL_EVERY_MS)}`
}

/** A filter says something only about alerts that have names, or samples with tags. */
function wants(target: AlertTargetRules, names: readonly string[], samples: readonly AlertSample[]): boolean {
  const { names: wanted, tags } = target
  if (wanted !== undefined && names.length > 0 && !names.some((name) => wanted.includes(name))) return false
  if (tags === undefined || samples.length === 0) return true
  return samples.some((sample) => Object.entries(tags).every(([key, value]) => sample.tags?.[key] === value))
}

/** A known thing goes before a new one: otherwise it would seem to be over while it only has no room. */
function keepMost(
  findings: readonly AlertFinding[],
  known: ReadonlyMap<string, AlertCase>,
): readonly AlertFinding[] {
  const rank = (each: AlertFinding) => (known.has(toKey(each)) ? 1 : 0)
  return [...findings]
    .sort((one, other) => rank(other) - rank(one) || other.count - one.count)
    .slice(0, ALERT_CASES_MAX)
}

function toKey({ rule, subject }: Pick<AlertCase, 'rule' | 'subject'>): string {
  return `${rule} ${subject}`
}
