/** One of AWS's two HTTP services stands in front of a function. They differ in paths and in how they report failures. */
export type HttpEndpoint = 'function-url' | 'http-api'

export interface PlainAnswer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | Buffer
}

/** Answers when the function has failed, was killed, or returned something that is no HTTP answer. */
export function answerBadGateway(endpoint: HttpEndpoint): PlainAnswer {
  return endpoint === 'function-url'
    ? { status: 502, headers: [['content-type', 'text/plain']], body: 'Internal Server Error' }
    : toMessage(500, 'Internal Server Error')
}

export function answerTooManyRequests(endpoint: HttpEndpoint): PlainAnswer {
  return endpoint === 'function-url'
    ? toMessage(429, 'Rate Exceeded.')
    : toMessage(503, 'Service Unavailable')
}

/** This answer comes from an HTTP API alone, since only that stops waiting before the function's own deadline. */
export const INTEGRATION_TIMED_OUT = toMessage(503, 'Service Unavailable')

export const REQUEST_TOO_LARGE = toMessage(413, 'Request Entity Too Large')

function toMessage(status: number, text: string): PlainAnswer {
  return { status, headers: [['content-type', 'application/json']], body: JSON.stringify({ message: text }) }
}
