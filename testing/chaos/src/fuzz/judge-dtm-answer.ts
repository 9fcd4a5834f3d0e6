import { readPath, type WireAnswer, type WireRequest } from './wire-request.ts'

export type Nature = 'valid' | 'near-valid' | 'rubbish'

/** DTM's outcomes, its refusals (500, with a sentence; 422 for what is over a bound of ours), gin's redirects and that to the console, what is not there yet, what the gate refuses (403, 421), and HTTP's own. */
const STATUSES: ReadonlySet<number> = new Set([
  200, 301, 302, 307, 400, 403, 404, 408, 409, 413, 414, 421, 422, 425, 431, 500, 501,
])
const COMMAND = /^\/api\/dtmsvr\/(?:prepare|submit|abort|forceStop|resetNextCronTime)$/
/** A request that cannot be read as HTTP reaches no route. */
const OF_HTTP: ReadonlySet<number> = new Set([400, 408, 414, 431])
/** DTM's Go client panics over JSON that is no workflow. */
const PLAIN = /^\/api\/dtmsvr\/prepareWorkflow$/
/** The message of an error that the code did not foresee. */
const BROKE = 'internal error'
const WORDS: Readonly<Record<number, string>> = { 200: 'SUCCESS', 409: 'FAILURE', 425: 'ONGOING' }

/**
 * Lists the faults of an answer of DTM's HTTP API, which has no OpenAPI document of its own. An empty list means none.
 */
export function faultsOfDtmAnswer(
  nature: Nature,
  request: WireRequest,
  answer: WireAnswer,
): readonly string[] {
  const said = `${answer.status} ${answer.contentType} ${answer.body.toString('utf8').slice(0, 400)}`
  const faults = [
    ...(STATUSES.has(answer.status) ? [] : ['a status that DTM does not know']),
    ...(nature === 'valid' && (answer.status === 422 || answer.status >= 500)
      ? ['a valid request was refused']
      : []),
    ...bodyFaults(request, answer),
    ...takenFaults(request, answer),
  ]
  return faults.map((fault) => `${fault} (${said})`)
}

function bodyFaults({ method, target }: WireRequest, { status, contentType, body }: WireAnswer) {
  if (method === 'HEAD') return body.length === 0 ? [] : ['a HEAD with a body']
  const isPlain = PLAIN.test(readPath(target)) && method === 'POST' && status !== 200 && !OF_HTTP.has(status)
  if (isPlain && contentType !== 'text/plain') return ['a workflow is refused in JSON']
  if (isPlain) return body.includes(BROKE) ? ['it broke'] : []
  if (contentType !== 'application/json') {
    return status < 500 ? [] : ['it broke, and says it in no JSON']
  }
  const value: unknown = JSON.parse(body.toString('utf8'))
  if (typeof value !== 'object' || value === null) return ['an answer that is no object']
  if (status >= 500) {
    const message = 'message' in value ? value.message : undefined
    return typeof message === 'string' && message !== BROKE ? [] : ['it broke']
  }
  if (!COMMAND.test(readPath(target)) || WORDS[status] === undefined) return []
  const word = 'dtm_result' in value ? value.dtm_result : undefined
  return word === WORDS[status] ? [] : ['a status and a word that do not fit']
}

function takenFaults({ method, target, body }: WireRequest, { status }: WireAnswer): readonly string[] {
  if (method !== 'POST' || !COMMAND.test(readPath(target)) || status !== 200) return []
  try {
    const value: unknown = JSON.parse(Buffer.from(body, 'latin1').toString('utf8'))
    return typeof value === 'object' && !Array.isArray(value) ? [] : ['what is no object was taken']
  } catch (error: unknown) {
    if (error instanceof SyntaxError) return ['what is no JSON was taken']
    throw error
  }
}
