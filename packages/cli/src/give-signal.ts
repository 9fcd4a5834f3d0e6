import type { Problem, SignalView } from '@counterstep/protocol'
import { cleanLine } from './operator/print/clean-text.ts'
import type { SignalCommand } from './signal-command.ts'

const TIMEOUT_MS = 30_000

export interface SignalOutcome {
  /** It is empty unless the signal is known to be stored. */
  readonly stdout: string
  readonly stderr: string
}

/**
 * Sends the signal once. If the outcome is not known, it says so, and names the id under which the signal may be sent
 * again.
 */
export async function giveSignal({
  url,
  apiKey,
  gid,
  name,
  id,
  payload,
}: SignalCommand): Promise<SignalOutcome> {
  const path = `/v1/transactions/${encodeURIComponent(gid)}/signals/${encodeURIComponent(name)}`
  const body = payload === undefined ? '' : `,"payload":${payload}`
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  const advice = `Send it again with --id ${id}`
  let answer: Response
  let text: string
  try {
    answer = await fetch(new URL(url.replace(/\/$/, '') + path), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization },
      body: `{"id":${JSON.stringify(id)}${body}}`,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      redirect: 'error',
    })
    text = await answer.text()
  } catch (error: unknown) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    const why = cause instanceof Error ? cause.message : String(cause)
    return refuse(`the server did not answer (${why}). ${advice}`)
  }
  const value = readObject(text)
  if (answer.ok) {
    return isSignalView(value) && value.gid === gid
      ? { stdout: `${cleanLine(describe(value))}\n`, stderr: '' }
      : refuse(`the answer was not that of a signal. ${advice}`)
  }
  const isAsked = typeof value.code === 'string' && (value.gid ?? gid) === gid
  const problem = isAsked ? (value as Partial<Problem>) : undefined
  const known = problem === undefined ? `HTTP ${answer.status}` : `${problem.detail} (${problem.code})`
  return refuse(answer.status >= 500 ? `${known}. ${advice}` : known)
}

function describe({ gid, name, id, state }: SignalView): string {
  return state === 'taken'
    ? `${gid} has taken the signal ${name}, id ${id}`
    : `${gid} keeps the signal ${name}, id ${id}, until a branch waits for it`
}

/** Something else than a server of Counterstep may have answered, such as a proxy with a page. */
function readObject(text: string): Partial<Problem & SignalView> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

function isSignalView(value: Partial<SignalView>): value is SignalView {
  return value.state === 'taken' || value.state === 'kept'
}

function refuse(sentence: string): SignalOutcome {
  return { stdout: '', stderr: `counterstep: ${cleanLine(sentence)}\n` }
}
