import { createKeyReader } from './api-key.ts'
import type { ClientOptions } from './client-options.ts'
import type { Setup } from './setup.ts'
import { ANSWER_BYTES_MAX_DEFAULT, checkAnswerBytesMax } from './transport/answer-bytes.ts'
import { checkUrls } from './transport/server-urls.ts'
import { createTransport } from './transport.ts'

/** A day. */
const TIMEOUT_MS_MAX = 86_400_000

/** Puts together what all calls of one client share. Throws a TypeError for an option that cannot be used. */
export function createSetup(
  {
    url,
    fetch,
    apiKey,
    headers = {},
    timeoutMs = 10_000,
    retryForMs = 30_000,
    answerBytesMax = ANSWER_BYTES_MAX_DEFAULT,
  }: ClientOptions,
  onServerNow?: (at: number) => void,
): Setup {
  const urls = checkUrls(url)
  const readApiKey = createKeyReader(apiKey, headers)
  const bytesMax = checkAnswerBytesMax(answerBytesMax)
  return {
    send: createTransport({ urls, fetch, readApiKey, headers, answerBytesMax: bytesMax, onServerNow }),
    serverCount: urls.length,
    fetch: fetch ?? globalThis.fetch,
    answerBytesMax: bytesMax,
    timeoutMs: checkTimeoutMs(timeoutMs),
    retryForMs,
  }
}

/** A timer of more than 24.8 days would end at once. */
function checkTimeoutMs(timeoutMs: number): number {
  if (timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX) return timeoutMs
  throw new TypeError(`timeoutMs must be over 0, and at most ${TIMEOUT_MS_MAX}`)
}
