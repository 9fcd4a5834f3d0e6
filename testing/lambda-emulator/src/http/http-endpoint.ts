/** Which of Amazon's two HTTP services stands before the function. They differ in paths and in how they fail. */
export type HttpFace = 'function-url' | 'http-api'

export interface PlainAnswer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | Buffer
}

/** The function failed, was killed, or answered what is no answer. */
export function badGateway(face: HttpFace): PlainAnswer {
  return face === 'function-url'
    ? { status: 502, headers: [['content-type', 'text/plain']], body: 'Internal Server Error' }
    : message(500, 'Internal Server Error')
}

export function tooManyRequests(face: HttpFace): PlainAnswer {
  return face === 'function-url' ? message(429, 'Rate Exceeded.') : message(503, 'Service Unavailable')
}

/** Only an HTTP API stops waiting before the function's own deadline. */
export const INTEGRATION_TIMED_OUT = message(503, 'Service Unavailable')

export const REQUEST_TOO_LARGE = message(413, 'Request Entity Too Large')

function message(status: number, text: string): PlainAnswer {
  return { status, headers: [['content-type', 'application/json']], body: JSON.stringify({ message: text }) }
}
