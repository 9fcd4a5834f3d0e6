import type { BranchAnswer, BranchCall, BranchCaller } from '@counterstep/core'
import { answerUnknown, readResult, readWordResult } from '../answer-result.ts'
import { CheckedPayloads } from '../checked-payloads.ts'
import { type ErrorWord, toErrorWord } from '../error-word.ts'
import { readExcerpt } from '../excerpt.ts'
import { buildRequestHeaders, listOwnHeaders } from '../request-headers.ts'
import { buildRequestTarget, type ParsedUrl, toParsedUrl } from '../request-line.ts'
import { retryAfterMs } from '../retry-after.ts'
import { TargetCache } from '../target-cache.ts'
import type { TargetPolicy } from '../targets/target-policy.ts'
import { WordSearch } from '../word-search.ts'
import type { InProcessAnswer, InProcessBranch, InProcessCall } from './in-process-branch.ts'
import type { InProcessDirectory } from './in-process-services.ts'

export interface InProcessCallerOptions {
  readonly directory: InProcessDirectory
  readonly targets: Pick<TargetPolicy, 'resolve'>
  readonly targetsMax: number
  /** If it is true, the first bytes of an answer's body are kept, to be shown to people. */
  readonly answerExcerpts: boolean
  /** Is told each error of a branch that is no answer to its caller, also one that comes too late. */
  readonly onError: (error: unknown, call: BranchCall) => void
}

/** A URL with the function that is called for it. */
type CalledUrl = ParsedUrl & { readonly branch: InProcessBranch | undefined }

/** Ends a call that is under way. */
type Ending = (word: ErrorWord) => void

const JSON_TYPE = 'application/json'
/** A function that throws is as a service that answers this. */
const THROWN: BranchAnswer = { result: 'unknown', statusCode: 500 }

/**
 * Calls branches that are functions of this process. A call has the same deadline, identity, headers and results
 * as over HTTP, and no signature, since it leaves no process. A function that computes without a pause stops the
 * orchestrator for that long: its deadline cannot pass meanwhile.
 */
export class InProcessCaller implements BranchCaller {
  readonly #options: InProcessCallerOptions
  readonly #payloads = new CheckedPayloads()
  readonly #targets: TargetCache<CalledUrl>
  readonly #endings = new Set<Ending>()
  #isClosed = false

  constructor(options: InProcessCallerOptions) {
    this.#options = options
    const { directory, targets, targetsMax } = options
    this.#targets = new TargetCache(
      targetsMax,
      (url) => targets.resolve(url),
      (url, text) => ({ ...toParsedUrl(url, false), branch: directory.find(text) }),
    )
  }

  /** Tells whether a call of that URL is made here. */
  serves(url: string): boolean {
    return this.#options.directory.serves(url)
  }

  call(call: BranchCall): Promise<BranchAnswer> {
    if (this.#isClosed) return Promise.resolve(answerUnknown('closed'))
    const target = this.#targets.get(call.url)
    if (typeof target === 'string') return Promise.resolve(answerUnknown(target))
    const { branch } = target
    if (branch === undefined) return Promise.resolve(answerUnknown('denied-target'))
    try {
      return this.#run(call, branch, this.#buildCall(call, target))
    } catch (error: unknown) {
      // The call cannot even be built. A call of this port never rejects.
      return Promise.resolve(answerUnknown(toErrorWord(error)))
    }
  }

  close(): Promise<void> {
    this.#isClosed = true
    for (const end of this.#endings) end('closed')
    return Promise.resolve()
  }

  /** Throws BadRequestError for headers and payloads that no request could carry. */
  #buildCall(call: BranchCall, target: ParsedUrl): Omit<InProcessCall, 'signal'> {
    const url = buildRequestTarget(target, call)
    const own = listOwnHeaders(call, this.#payloads)
    const sending = { signer: undefined, leftMs: call.timeoutMs }
    return {
      url,
      headers: toRecord(buildRequestHeaders(call, own, url, sending)),
      payload: readPayload(call),
    }
  }

  #run(
    call: BranchCall,
    branch: InProcessBranch,
    given: Omit<InProcessCall, 'signal'>,
  ): Promise<BranchAnswer> {
    const controller = new AbortController()
    return new Promise((resolve) => {
      const settle = (answer: BranchAnswer): void => {
        clearTimeout(timer)
        this.#endings.delete(end)
        resolve(answer)
      }
      const end: Ending = (word) => {
        settle(answerUnknown(word))
        controller.abort()
      }
      const timer = setTimeout(end, call.timeoutMs, 'timeout')
      this.#endings.add(end)
      // A call that is settled stays so. A later error of its function is only told.
      invoke(branch, { ...given, signal: controller.signal })
        .then((answered) => this.#judge(call, answered))
        .then(settle, (error: unknown) => {
          settle(THROWN)
          this.#options.onError(error, call)
        })
    })
  }

  #judge(call: BranchCall, answered: InProcessAnswer): BranchAnswer {
    const { statusCode, headers = {}, body = '' } = answered?.answer ?? {}
    if (answered?.error !== undefined) this.#options.onError(answered.error, call)
    if (statusCode === undefined || !Number.isInteger(statusCode) || typeof body !== 'string') {
      this.#options.onError(new TypeError('a branch must return { answer: { statusCode, body } }'), call)
      return { result: 'unknown', error: 'bad-response' }
    }
    const bytes = Buffer.from(body)
    const result = findResult(call, statusCode, bytes)
    const excerpt = this.#options.answerExcerpts ? readExcerpt(bytes) : undefined
    const isWanted = result !== 'unknown' && call.bodyBytesKept !== undefined
    const waitMs = statusCode === 200 ? undefined : retryAfterMs(headers['retry-after'], Date.now)
    return {
      result,
      statusCode,
      ...(excerpt === undefined ? {} : { excerpt }),
      ...(isWanted && bytes.length <= call.bodyBytesKept ? { body } : {}),
      ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
    }
  }
}

/** A function that throws before its first pause rejects as well. */
async function invoke(branch: InProcessBranch, call: InProcessCall): Promise<InProcessAnswer> {
  return await branch(call)
}

function findResult({ wordsCount }: BranchCall, statusCode: number, body: Buffer): BranchAnswer['result'] {
  const byStatus = readResult(statusCode)
  if (!wordsCount || byStatus === 'ongoing') return byStatus
  const words = new WordSearch()
  words.add(body)
  return readWordResult(words) ?? byStatus
}

/** Each call has a payload of its own, as over HTTP, so that no function sees what another one has changed. */
function readPayload({ method, contentType, body }: BranchCall): unknown {
  if (method === 'GET') return undefined
  if (contentType !== JSON_TYPE) return Buffer.from(body)
  return body === '' ? undefined : JSON.parse(body)
}

function toRecord(headers: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {}
  for (let at = 0; at < headers.length; at += 2) record[headers[at] ?? ''] = headers[at + 1] ?? ''
  return record
}
