/** Answers that are HTTP, and mean something else than they seem to, or nothing that was agreed upon. */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import type { Behaviour, Meaning } from './behaviour.ts'

const GIBIBYTE = 1024 ** 3
const CHUNK = Buffer.alloc(1024 * 1024, 'x')
const BOMB = gzipSync(Buffer.alloc(64 * CHUNK.length))
const FAILURE = '{"dtm_result":"FAILURE"}'

/** No success but 200, no refusal but 409, and 425 for not yet. A status that may have no body is sent without one. */
const STATUSES_ASKED_AGAIN = [
  201, 202, 203, 204, 205, 206, 300, 304, 400, 401, 402, 403, 404, 405, 408, 410, 412, 418, 421, 422, 423,
  425, 428, 429, 431, 451, 500, 501, 502, 503, 504, 507, 511, 599, 600, 999,
] as const
const STATUSES_OF_REDIRECTS = [301, 302, 303, 307, 308] as const
const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Lists the behaviours. `elsewhereUrl` is the target of a redirect. No request may arrive there. */
export function httpAnswers(elsewhereUrl: string): readonly Behaviour[] {
  return [
    ...STATUSES_ASKED_AGAIN.map((status) =>
      answers(`says-${status}`, 'again', status, STATUSES_WITHOUT_BODY.has(status) ? '' : FAILURE),
    ),
    ...STATUSES_OF_REDIRECTS.map((status) =>
      answers(`redirects-by-${status}`, 'again', status, '', { location: elsewhereUrl }),
    ),
    answers('refuses', 'failure', 409, FAILURE),
    answers('refuses-in-no-json', 'failure', 409, '{"code":', { 'content-type': 'application/json' }),
    answers('succeeds-in-no-json', 'success', 200, '{"code":', { 'content-type': 'application/json' }),
    answers('says-failure-in-a-200', 'success', 200, FAILURE),
    answers('says-ongoing-in-a-200', 'success', 200, '{"dtm_result":"ONGOING"}'),
    answers('says-failure-in-a-packed-200', 'success', 200, gzipSync(FAILURE), {
      'content-encoding': 'gzip',
    }),
    answers('says-failure-in-a-packed-500', 'again', 500, gzipSync(FAILURE), { 'content-encoding': 'gzip' }),
    answers('sends-a-gzip-bomb', 'success', 200, BOMB, { 'content-encoding': 'gzip' }),
    answers('sends-a-gzip-bomb-with-503', 'again', 503, BOMB, { 'content-encoding': 'gzip' }),
    answers('says-it-is-packed-and-is-not', 'success', 200, FAILURE, { 'content-encoding': 'gzip, br' }),
    answers('asks-to-wait-1e12-in-letters', 'again', 503, '', { 'retry-after': '1e12' }),
    answers('asks-to-wait-1e12', 'again', 503, '', { 'retry-after': '1000000000000' }),
    answers('asks-to-wait-for-a-century', 'again', 429, '', {
      'retry-after': 'Fri, 31 Dec 2123 23:59:59 GMT',
    }),
    answers('asks-to-wait-a-negative-time', 'again', 503, '', { 'retry-after': '-5' }),
    floods('sends-a-gibibyte', 'success', 200),
    floods('sends-a-gibibyte-with-500', 'again', 500),
    floods('refuses-with-a-gibibyte', 'failure', 409),
  ]
}

function answers(
  name: string,
  meaning: Meaning,
  status: number,
  body: string | Buffer,
  headers: OutgoingHttpHeaders = {},
): Behaviour {
  return {
    name,
    meaning,
    answer(response) {
      response.writeHead(status, headers)
      response.end(body)
    },
  }
}

function floods(name: string, meaning: Meaning, status: number): Behaviour {
  return { name, meaning, answer: (response) => flood(response, status) }
}

/** Writes as fast as the reader takes it. */
function flood(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-length': GIBIBYTE })
  let leftBytes = GIBIBYTE
  const more = (): void => {
    while (leftBytes > 0 && !response.destroyed) {
      leftBytes -= CHUNK.length
      if (!response.write(CHUNK)) return
    }
    if (leftBytes === 0) response.end()
  }
  response.on('drain', more)
  more()
}
