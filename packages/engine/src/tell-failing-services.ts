import type { Clock } from '@counterstep/core'
import { OPS, type Op } from '@counterstep/protocol'
import type { EngineObserver, FailingService } from './observer.ts'
import { OTHER } from './other-key.ts'

/** More services and ops that fail at once are told together, as one service `other`. */
const FAILING_MAX = 500
/** One that fails and answers by turns is told as answering again this often at most. */
const TELL_AGAIN_MS = 60_000
/** The failures of one that was not called for so long are forgotten when room is needed. */
const FORGET_MS = 3_600_000
/** The words for calls that this node itself has ended or never sent. They say nothing about the service. */
const OWN_WORDS: ReadonlySet<unknown> = new Set(['closed', 'not-sent', 'busy', 'large-plan', 'resources'])

interface Failing {
  failures: number
  /** It is told at this number of failures, which doubles each time. */
  tellAt: number
  /** Both by this node's clock. */
  sinceAt: number
  lastAt: number
  /** Until then an answer does not end the count. */
  quietUntil: number
}

/**
 * Reports a service whose calls come to nothing: at the first failure of an op, and then each time their number has
 * doubled. One event says that the service answers again. So an outage of a day is some fifteen lines, whatever is
 * called meanwhile. A definite no is an answer, and 425 is one too.
 */
export function tellFailingServices(
  observer: EngineObserver,
  clock: Clock,
  readEpochMs: () => number,
): EngineObserver {
  /** They are by op first, so that a call that is answered joins no text. */
  const failing = new Map<Op, Map<string, Failing>>(OPS.map((op) => [op, new Map()]))
  let size = 0

  function tell(level: 'warn' | 'info', service: string, op: Op, outcome: string, entry: Failing): void {
    const { failures, sinceAt } = entry
    const since = new Date(readEpochMs() - (clock.now() - sinceAt)).toISOString()
    const name = level === 'warn' ? 'service-failing' : 'service-answers-again'
    const about: FailingService = { name: service, op, outcome, failures, since }
    const detail = `${service} ${op} ${outcome}: ${failures} failed since ${since}`
    observer.event({ level, name, detail, service: about })
  }

  function countFailure(service: string, op: Op, outcome: string): void {
    const now = clock.now()
    const entry = failing.get(op)?.get(service) ?? add(service, op, now)
    if (entry === undefined) {
      countFailure(OTHER, op, outcome)
      return
    }
    if (entry.failures === 0) entry.sinceAt = now
    entry.failures++
    entry.lastAt = now
    if (entry.failures < entry.tellAt) return
    entry.tellAt *= 2
    tell('warn', service, op, outcome, entry)
  }

  function countAnswer(service: string, op: Op, outcome: string): void {
    const entry = failing.get(op)?.get(service)
    if (entry === undefined || entry.failures === 0) return
    const now = clock.now()
    if (now < entry.quietUntil) return
    tell('info', service, op, outcome, entry)
    Object.assign(entry, { failures: 0, tellAt: 1, quietUntil: now + TELL_AGAIN_MS })
  }

  function add(service: string, op: Op, now: number): Failing | undefined {
    if (service !== OTHER && size >= FAILING_MAX && !makeRoom(now)) return undefined
    const entry = { failures: 0, tellAt: 1, sinceAt: now, lastAt: now, quietUntil: 0 }
    failing.get(op)?.set(service, entry)
    size++
    return entry
  }

  function makeRoom(now: number): boolean {
    for (const services of failing.values())
      for (const [service, { failures, lastAt, quietUntil }] of services)
        if (now - lastAt > FORGET_MS || (failures === 0 && now > quietUntil)) {
          services.delete(service)
          size--
        }
    return size < FAILING_MAX
  }

  return {
    accepted: (...given) => observer.accepted(...given),
    refused: (code) => observer.refused(code),
    finished: (...given) => observer.finished(...given),
    claimed: (count) => observer.claimed(count),
    storeCalled: (...given) => observer.storeCalled(...given),
    event: (event) => observer.event(event),
    branchCalled(op, result, durationMs, service, outcome) {
      observer.branchCalled(op, result, durationMs, service, outcome)
      if (service === undefined || OWN_WORDS.has(outcome)) return
      if (result === 'unknown') countFailure(service, op, String(outcome))
      else if (size > 0) countAnswer(service, op, String(outcome))
    },
  }
}
