import type { LambdaContext } from '../../src/events.ts'

/** Creates the context of an invocation that is killed after this time. */
export function createContext(remainingMs: number): LambdaContext {
  const deadline = Date.now() + remainingMs
  return { getRemainingTimeInMillis: () => deadline - Date.now() }
}

/** Makes an event as API Gateway's HTTP API and Function URLs send it, payload format 2.0. */
export function buildHttpEvent(method: string, path: string, options: HttpEventOptions = {}): object {
  const { headers = {}, body, query = '' } = options
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    headers: { host: 'id.lambda-url.eu-central-1.on.aws', ...json, ...headers },
    requestContext: {
      domainName: 'id.lambda-url.eu-central-1.on.aws',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.7', userAgent: 'test' },
      requestId: 'r-1',
      stage: '$default',
      timeEpoch: 1_700_000_000_000,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    isBase64Encoded: false,
  }
}

interface HttpEventOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly query?: string
}

export interface HttpAnswer {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
