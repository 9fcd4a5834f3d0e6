import { randomUUID } from 'node:crypto'
import { ACCOUNT } from '../function-spec.ts'
import type { HttpFace } from './http-endpoint.ts'

/** A request of a client, as it came in. */
export interface ClientRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Names and values in turn. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  readonly sourceIp: string
}

/** Payload format 2.0. */
export interface HttpEvent {
  readonly version: '2.0'
  readonly routeKey: '$default'
  readonly rawPath: string
  readonly rawQueryString: string
  readonly cookies?: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly queryStringParameters?: Readonly<Record<string, string>>
  readonly requestContext: RequestContext
  readonly body?: string
  readonly isBase64Encoded: boolean
}

interface RequestContext {
  readonly accountId: string
  readonly apiId: string
  readonly domainName: string
  readonly domainPrefix: string
  readonly http: {
    readonly method: string
    readonly path: string
    readonly protocol: 'HTTP/1.1'
    readonly sourceIp: string
    readonly userAgent: string
  }
  readonly requestId: string
  readonly routeKey: '$default'
  readonly stage: '$default'
  readonly time: string
  readonly timeEpoch: number
}

/** Any other content, also a form, comes as base64. */
const TEXT = /^(text\/[^;]+|application\/(json|javascript|xml))\s*(;|$)/i

export function toHttpEvent(request: ClientRequest, face: HttpFace, now = Date.now()): HttpEvent {
  const [encodedPath = '', rawQueryString = ''] = splitOnce(request.target, '?')
  const rawPath = face === 'http-api' ? decodedPath(encodedPath) : encodedPath
  const { headers, cookies } = readHeaders(request.rawHeaders)
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    ...(cookies.length === 0 ? {} : { cookies }),
    headers,
    ...(rawQueryString === '' ? {} : { queryStringParameters: readParameters(rawQueryString) }),
    requestContext: makeContext(request, rawPath, headers, now),
    ...toEventBody(request.body, headers),
  }
}

/** An HTTP API hands the path over decoded, and ends it at what is a question mark then. A function URL does not. */
function decodedPath(path: string): string {
  return splitOnce(decodeURIComponent(path), '?')[0] ?? ''
}

/** Names in lower case, repeated ones joined; cookies apart. */
function readHeaders(raw: readonly string[]): { headers: Record<string, string>; cookies: string[] } {
  const headers: Record<string, string> = {}
  const cookies: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase()
    const value = raw[i + 1] ?? ''
    if (name === 'cookie') cookies.push(...value.split(/;\s*/))
    else headers[name] = headers[name] === undefined ? value : `${headers[name]},${value}`
  }
  return { headers, cookies }
}

function readParameters(query: string): Record<string, string> {
  const parameters: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    parameters[name] = parameters[name] === undefined ? value : `${parameters[name]},${value}`
  }
  return parameters
}

function makeContext(
  { method, sourceIp }: ClientRequest,
  path: string,
  headers: Readonly<Record<string, string>>,
  now: number,
): RequestContext {
  return {
    accountId: ACCOUNT,
    apiId: 'emulated',
    domainName: headers.host ?? '',
    domainPrefix: 'emulated',
    http: { method, path, protocol: 'HTTP/1.1', sourceIp, userAgent: headers['user-agent'] ?? '' },
    requestId: randomUUID(),
    routeKey: '$default',
    stage: '$default',
    time: new Date(now).toUTCString(),
    timeEpoch: now,
  }
}

function toEventBody(
  body: Buffer,
  headers: Readonly<Record<string, string>>,
): Pick<HttpEvent, 'body' | 'isBase64Encoded'> {
  if (body.length === 0) return { isBase64Encoded: false }
  const isText = TEXT.test(headers['content-type'] ?? '') && headers['content-encoding'] === undefined
  return isText
    ? { body: body.toString(), isBase64Encoded: false }
    : { body: body.toString('base64'), isBase64Encoded: true }
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
