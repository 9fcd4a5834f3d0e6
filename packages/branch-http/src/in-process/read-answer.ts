import type { BranchAnswer, BranchCall } from '@counterstep/core'
import { answerUnknown, readResult, readWordResult } from '../answer-result.ts'
import { readExcerpt } from '../excerpt.ts'
import { retryAfterMs } from '../retry-after.ts'
import { WordSearch } from '../word-search.ts'

export interface ReadAnswer {
  readonly answer: BranchAnswer
  /** It goes to the log. */
  readonly error?: unknown
}

/** A function may be of JavaScript, so it may have returned anything. */
interface Returned {
  readonly answer?: { readonly statusCode?: unknown; readonly headers?: unknown; readonly body?: unknown }
  readonly error?: unknown
}

const UNREADABLE: ReadAnswer = {
  answer: answerUnknown('bad-response'),
  error: new TypeError('a branch must return { answer: { statusCode, headers, body } }'),
}

/** Reads the result of a function as that of a response over HTTP. What cannot be read is unknown, and the error says what is wanted. */
export function readAnswer(call: BranchCall, returned: unknown): ReadAnswer {
  const { answer, error } = (returned ?? {}) as Returned
  const { statusCode, headers, body = '' } = answer ?? {}
  if (!Number.isInteger(statusCode) || typeof body !== 'string') return UNREADABLE
  const read = toBranchAnswer(call, Number(statusCode), readRetryAfter(headers), Buffer.from(body))
  return error === undefined ? { answer: read } : { answer: read, error }
}

function toBranchAnswer(
  call: BranchCall,
  statusCode: number,
  retryAfter: string | undefined,
  body: Buffer,
): BranchAnswer {
  const isKept = call.bodyBytesKept !== undefined && body.length <= call.bodyBytesKept
  const excerpt = readExcerpt(body)
  const waitMs = statusCode === 200 ? undefined : retryAfterMs(retryAfter, Date.now)
  return {
    result: findResult(call, statusCode, body),
    statusCode,
    ...(excerpt === undefined ? {} : { excerpt }),
    ...(isKept && (statusCode === 200 || statusCode === 409) ? { body: body.toString() } : {}),
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  }
}

function findResult({ wordsCount }: BranchCall, statusCode: number, body: Buffer): BranchAnswer['result'] {
  const byStatus = readResult(statusCode)
  if (!wordsCount || byStatus === 'ongoing') return byStatus
  const words = new WordSearch()
  words.add(body)
  return readWordResult(words) ?? byStatus
}

/** The names of headers have no case, and a number of seconds is often given as one. */
function readRetryAfter(headers: unknown): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined
  const [, value] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'retry-after') ?? []
  return value === undefined || value === null ? undefined : String(value)
}
