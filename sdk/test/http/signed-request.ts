import { once } from 'node:events'
import {
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type RequestListener,
  type Server,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type CallToSign,
  callSigner,
  createSigningKeyText,
  parseSigningKey,
  type SigningKey,
  toPublicJwk,
} from '@counterstep/signature'
import { onTestFinished } from 'vitest'

export const KEY = parseSigningKey(createSigningKeyText('ed25519'))
export const PUBLIC_KEY = toPublicJwk(KEY) ?? ''

export type Header = readonly [name: string, value: string]

/** A request as it goes over the wire. Each part can be changed after it was signed. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: readonly Header[]
  readonly body: string
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  readonly code: unknown
}

export const QUERY = 'gid=g-1&trans_type=saga&branch_id=01&op=action'

/** Makes a request as the orchestrator sends it to a service that it knows as `baseUrl`. */
export function signedRequest(
  baseUrl: string,
  path: string,
  {
    key = KEY,
    createdAtMs = Date.now(),
    ...overrides
  }: Partial<CallToSign & { key: SigningKey; createdAtMs: number }> = {},
): Request {
  const call: CallToSign = {
    method: 'POST',
    targetUri: baseUrl + path,
    contentType: 'application/json',
    attempt: '1',
    epoch: '1',
    acceptedAt: String(Date.now()),
    ...identityIn(path),
    body: '{"cents":100}',
    ...overrides,
  }
  const flat = callSigner(
    () => key,
    () => createdAtMs,
  ).sign(call)
  const signature = flat.flatMap((name, index) =>
    index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as const] : [],
  )
  return {
    method: call.method,
    path,
    body: call.body,
    headers: [
      ...(call.contentType === undefined ? [] : [['content-type', call.contentType] as const]),
      ['counterstep-attempt', call.attempt],
      ['counterstep-epoch', call.epoch],
      ['counterstep-accepted-at', call.acceptedAt],
      ['counterstep-gid', call.gid],
      ['counterstep-branch-id', call.branchId],
      ['counterstep-op', call.op],
      ['counterstep-kind', call.kind],
      ...signature,
    ],
  }
}

function identityIn(path: string): Pick<CallToSign, 'gid' | 'branchId' | 'op' | 'kind'> {
  const query = new URL(path, 'http://service').searchParams
  const kind = query.get('trans_type') ?? ''
  return {
    gid: query.get('gid') ?? '',
    branchId: query.get('branch_id') ?? '',
    op: query.get('op') ?? '',
    kind: kind === 'msg' ? 'message' : kind,
  }
}

/** Header lines go out as they are, twice if they are there twice. */
export async function send(url: string, call: Request): Promise<Answer> {
  const request = opened(url, call)
  request.end(call.method === 'GET' ? undefined : call.body)
  return answerTo(request)
}

/**
 * `path` is the target of the request line as it stands. Its head is sent when the caller says so or ends it; its
 * body is the caller's to send.
 */
export function opened(url: string, { method, path, headers, body }: Request): ClientRequest {
  const { host } = new URL(url)
  const own = headers.some(([name]) => name === 'host') ? headers : [['host', host] as const, ...headers]
  const length = method === 'GET' ? [] : [['content-length', String(Buffer.byteLength(body))] as const]
  return httpRequest(url, { method, path, headers: [...own, ...length].flat() as never })
}

export async function answerTo(request: ClientRequest): Promise<Answer> {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response) text += String(chunk)
  const isJson = String(response.headers['content-type']).includes('json')
  const code = isJson && text !== '' ? JSON.parse(text).code : undefined
  return { status: response.statusCode ?? 0, headers: response.headers, text, code }
}

/** Gone when the test ends. */
export async function listening(listener: RequestListener): Promise<string> {
  const server: Server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
