import type { BranchAnswer, BranchCall, BranchCaller, Clock } from '@counterstep/core'
import { BREAKS_MAX, type BreakRequest, type BreakView, InvalidRequestError } from '@counterstep/protocol'

const LATE_MS = 3_000
const EXCERPT = '{"error":"broken on purpose"}'

/** Waits for the time, or until the caller closes. Then the answer is `closed`. */
type Wait = (ms: number) => Promise<'over' | 'closed'>

/**
 * Breaks calls to branches on purpose, so that a developer sees what becomes of a transaction then. It stands before
 * the real caller, and only `counterstep dev` puts it there.
 */
export class Breaks {
  readonly #clock: Pick<Clock, 'after'>
  #inForce: readonly BreakView[] = []
  #lastId = 0

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock
  }

  /** Lists the breaks in force, the oldest first. */
  list(): readonly BreakView[] {
    return this.#inForce
  }

  /** Adds a break. Its calls are not broken in another way any more. Throws if there are too many breaks. */
  add(request: BreakRequest): void {
    const others = this.#inForce.filter((each) => !isForSameCalls(each, request))
    if (others.length >= BREAKS_MAX) {
      const message = `there are ${BREAKS_MAX} breaks already; take one back with next: 0`
      throw new InvalidRequestError([{ code: 'SAGA_INVALID', path: '', message }])
    }
    this.#lastId += 1
    const added = request.next === 0 ? [] : [{ ...request, id: String(this.#lastId) }]
    this.#inForce = [...others, ...added]
  }

  /** Returns a caller that makes the calls which are not broken by the given one. */
  wrap(caller: BranchCaller): BranchCaller {
    const endWaits = new Set<() => void>()
    const wait: Wait = (ms) =>
      new Promise((resolve) => {
        const end = (how: 'over' | 'closed') => {
          endWaits.delete(close)
          resolve(how)
        }
        const cancel = this.#clock.after(ms, () => end('over'))
        const close = () => {
          cancel()
          end('closed')
        }
        endWaits.add(close)
      })
    return {
      call: (call) => {
        const broken = this.#take(call)
        return broken === undefined ? caller.call(call) : playBreak(broken, call, caller, wait)
      },
      close() {
        for (const end of [...endWaits]) end()
        return caller.close()
      },
    }
  }

  /** Finds the oldest break that the call fits, and counts the call. */
  #take(call: BranchCall): BreakView | undefined {
    const found = this.#inForce.find((each) => fits(each, call))
    if (found === undefined) return undefined
    this.#inForce = this.#inForce
      .map((each) => (each === found ? { ...each, next: each.next - 1 } : each))
      .filter(({ next }) => next > 0)
    return found
  }
}

async function playBreak(
  { how, lateMs = LATE_MS }: BreakView,
  call: BranchCall,
  caller: BranchCaller,
  wait: Wait,
): Promise<BranchAnswer> {
  switch (how) {
    case 'answer-409':
      return { result: 'failure', statusCode: 409, excerpt: EXCERPT }
    case 'answer-500':
      return { result: 'unknown', statusCode: 500, excerpt: EXCERPT }
    case 'time-out':
      return { result: 'unknown', error: (await wait(call.timeoutMs)) === 'over' ? 'timeout' : 'closed' }
    case 'late':
      return await answerLate(caller.call(call), lateMs, call.timeoutMs, wait)
    case 'take-effect-and-lose-the-answer':
      await caller.call(call)
      return { result: 'unknown', error: 'reset' }
  }
}

/** The service has the call at once. Its answer comes late, or after the limit, as if the network held it back. */
async function answerLate(
  answered: Promise<BranchAnswer>,
  lateMs: number,
  timeoutMs: number,
  wait: Wait,
): Promise<BranchAnswer> {
  const ended = await wait(Math.min(lateMs, timeoutMs))
  if (ended === 'closed') return { result: 'unknown', error: 'closed' }
  return lateMs >= timeoutMs ? { result: 'unknown', error: 'timeout' } : await answered
}

function isForSameCalls(one: BreakRequest, other: BreakRequest): boolean {
  const names = ['service', 'url', 'urlPrefix', 'branchId', 'op'] as const
  return names.every((name) => one[name] === other[name])
}

function fits({ service, url, urlPrefix, branchId, op }: BreakRequest, call: BranchCall): boolean {
  if (op !== undefined && op !== call.op) return false
  if (branchId !== undefined) return branchId === call.branchId
  // A branch's URL is stored as it was parsed: an empty path is `/` in it.
  if (url !== undefined) return call.url === (URL.parse(url)?.href ?? url)
  if (urlPrefix !== undefined) return call.url.startsWith(urlPrefix)
  return service === readService(call.url)
}

/** A named service stands before `:/`, and any other URL is told by its host. */
function readService(url: string): string | undefined {
  const absolute = /^https?:\/\/([^/?#]*)/.exec(url)?.[1]
  return absolute ?? /^([^:/]+):\//.exec(url)?.[1]
}
