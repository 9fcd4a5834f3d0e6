import { setTimeout as delay } from 'node:timers/promises'
import type { DtmAnswer, DtmApi } from '../dtm-api.ts'
import type { XaPlan } from '../plan.ts'

const CALL_MS_MAX = 15_000
const POLL_MS = 30
/** The client waits no longer for the branch that it wants to abort while it is under way. */
const REGISTERED_MS_MAX = 5_000
/** Seconds. One that dies soon leaves its locks until then. */
const TIMEOUT_OF_DYING_S = 2
const TIMEOUT_S = 60
const RETRY_INTERVAL_S = 1

/** The answers that the client of an XA has got. */
export interface XaTold {
  readonly gid: string
  readonly isPrepared: boolean
  /** Whether it has ever asked for this end. */
  readonly asked?: 'submit' | 'abort'
  /** The end that its server has acknowledged. */
  readonly end?: 'succeed' | 'failed'
}

export interface XaClientDeps {
  readonly api: DtmApi
  /** The URL of the participants. */
  readonly url: string
}

/** Runs one XA as DTM's Go client does, as far as the client lives. */
export async function runXaClient(plan: XaPlan, { api, url }: XaClientDeps): Promise<XaTold> {
  const { gid, course } = plan
  const isDying = course.startsWith('dies-')
  const common = { gid, trans_type: 'xa', retry_interval: RETRY_INTERVAL_S }
  const prepared = await api.askUntilAnswered('prepare', {
    ...common,
    timeout_to_fail: isDying ? TIMEOUT_OF_DYING_S : TIMEOUT_S,
  })
  const told = { gid, isPrepared: prepared?.statusCode === 200 }
  if (!told.isPrepared || course === 'dies-prepared') return told
  const isCalled = await callBranches(plan, { api, url })
  if (isDying) return told
  const asked = isCalled && course === 'submit' ? 'submit' : 'abort'
  return { ...told, asked, ...readEnd(asked, await api.askUntilAnswered(asked, common)) }
}

async function callBranches(plan: XaPlan, deps: XaClientDeps): Promise<boolean> {
  const { gid, course, moves } = plan
  for (const [index, move] of moves.entries()) {
    const isLast = index === moves.length - 1
    const branch = `0${index + 1}`
    const query = new URLSearchParams({ gid, branch_id: branch, op: 'action', trans_type: 'xa' })
    const call = callBranch(`${deps.url}/xa?${query}`, {
      ...move,
      isRefused: course === 'refused' && isLast,
      isSlow: course === 'hasty',
    })
    if (course === 'hasty') {
      await Promise.race([call, untilRegistered(gid, deps.api)])
      return false
    }
    if (!(await call)) return false
    if (course === 'dies-called') return true
  }
  return true
}

async function callBranch(url: string, work: unknown): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(work),
      signal: AbortSignal.timeout(CALL_MS_MAX),
    })
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    // The branch may have been prepared, or may be prepared later.
    return false
  }
}

async function untilRegistered(gid: string, api: DtmApi): Promise<void> {
  for (const endAt = performance.now() + REGISTERED_MS_MAX; performance.now() < endAt; ) {
    try {
      if ((await api.query(gid)).branches.length > 0) return
    } catch {
      // The server is dead.
    }
    await delay(POLL_MS)
  }
}

/** A repeated request whose first answer was lost may be told that it has ended already, and how. */
function readEnd(asked: 'submit' | 'abort', answer: DtmAnswer | undefined): Pick<XaTold, 'end'> {
  if (answer === undefined) return {}
  if (answer.statusCode === 200) return { end: asked === 'submit' ? 'succeed' : 'failed' }
  const status = /current status '(\w+)'/.exec(answer.text)?.[1]
  if (status === 'submitted' || status === 'succeed') return { end: 'succeed' }
  return status === 'aborting' || status === 'failed' ? { end: 'failed' } : {}
}
