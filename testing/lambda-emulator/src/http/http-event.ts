import { randomUUID } from 'node:crypto'
import { ACCOUNT } from '../function-spec.ts'
import type { HttpEndpoint } from './http-endpoint.ts'

/** A client has sent this request. */
export interface ClientRequest {
  readonly method: string
  /** It is the path with its query. */
  readonly target: string
  /** Names and values alternate. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  readonly sourceIp: string
}

/** This is an event in payload format 2.0. */
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

/** Content of these types is passed as text. Any other content, also a form, is passed as base64. */
const TEXT = /^(text\/[^;]+|application\/(json|javascript|xml))\s*(;|$)/i

export function toHttpEvent(request: ClientRequest, endpoint: HttpEndpoint, now = Date.now()): HttpEvent {
  const [encodedPath = '', rawQueryString = ''] = splitOnce(request.target, '?')
  const rawPath = endpoint === 'http-api' ? decodePath(encodedPath) : encodedPath
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

/** Decodes the path as an HTTP API does, which also cuts it at an encoded question mark. A function URL does neither. */
function decodePath(path: string): string {
  return splitOnce(decodeURIComponent(path), '?')[0] ?? ''
}

/** Reads the headers with their names in lower case. Repeated ones are joined, and cookies are apart. */
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
