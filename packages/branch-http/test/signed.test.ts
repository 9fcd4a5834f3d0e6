import type { IncomingMessage } from 'node:http'
import type { BranchCall } from '@counterstep/core'
import {
  callSigner,
  createSigningKeyText,
  fitsDigest,
  parseSigningKey,
  parseVerificationKey,
  toPublicJwk,
  verifyHead,
} from '@counterstep/signature'
import { describe, expect, it } from 'vitest'
import { parseEndpoint } from '../src/targets/named-service.ts'
import { targetPolicy } from '../src/targets/target-policy.ts'
import { buildCall, readBody, serveHttp } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

const KEY = parseSigningKey(createSigningKeyText('ed25519'))
const KEYS = new Map([[KEY.keyId, parseVerificationKey(toPublicJwk(KEY) ?? '')]])

interface Received {
  readonly request: IncomingMessage
  readonly verdict: string
}

/** Calls a server that checks every byte that it got, and returns what the server found. */
async function received(overrides: Partial<BranchCall>, signed = true, path = '/debit'): Promise<Received> {
  const found: Received[] = []
  const { url } = await serveHttp(async (request, response) => {
    const body = Buffer.from(await readBody(request))
    const values = (name: string) =>
      request.rawHeaders.filter((_, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === name)
    const targetUri = `http://${request.headers.host}${request.url}`
    const head = verifyHead({ method: request.method ?? '', targetUri, values }, KEYS, Date.now() / 1000)
    const fits = head.refusal === undefined && fitsDigest(head.digest, body)
    found.push({ request, verdict: head.refusal ?? (fits ? 'fits' : 'body') })
    response.end()
  })
  const signer = signed ? callSigner(() => KEY, Date.now) : undefined
  await testCaller({ signer }).call(buildCall(url + path, overrides))
  const [only] = found
  if (only === undefined) throw new Error('the call did not arrive')
  return only
}

describe('a signed call', () => {
  it('S18: The signature fits what arrives: body, query, unusual ids, content types, a GET', async () => {
    const calls: readonly Partial<BranchCall>[] = [
      {},
      { body: '' },
      { body: '{"name":"Zoë 🙂"}', attempt: 17, epoch: 5 },
      { body: 'a\r\nb', contentType: ' text/plain; charset=utf-8 ' },
      { method: 'GET', body: 'never sent', contentType: '' },
      { op: 'plan', kind: 'workflow' },
    ]
    for (const overrides of calls) expect((await received(overrides)).verdict).toBe('fits')
    const odd = buildCall('', { id: 'a/b?c&d=é'.replace('é', '%') })
    expect((await received({ gid: odd.gid }, true, '/debit?mine=1&x=%20y')).verdict).toBe('fits')
  })

  it('S31: A whole URL gets no parameter of ours, and the signature fits it', async () => {
    const found: string[] = []
    const { url } = await serveHttp(async (request, response) => {
      const body = Buffer.from(await readBody(request))
      const values = (name: string) =>
        request.rawHeaders.filter(
          (_, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === name,
        )
      const targetUri = `http://${request.headers.host}${request.url}`
      const head = verifyHead({ method: 'POST', targetUri, values }, KEYS, Date.now() / 1000)
      const fits = head.refusal === undefined && fitsDigest(head.digest, body)
      found.push(
        `${request.url} ${head.refusal ?? (fits ? 'fits' : 'body')} ${request.headers['counterstep-gid']}`,
      )
      response.end()
    })
    for (const path of ['/services/T0/B0/secret', '/hook?thread=1&x=%20y']) {
      const service = parseEndpoint('alert-ops', url + path)
      if (typeof service === 'string') throw new Error(service)
      const targets = targetPolicy({ services: [service], allowed: [], others: 'none', isLocal: false })
      const caller = testCaller({ targets, signer: callSigner(() => KEY, Date.now) })
      expect(await caller.call(buildCall('alert-ops:/'))).toMatchObject({ result: 'success' })
    }
    const { gid } = buildCall('')
    expect(found).toEqual([`/services/T0/B0/secret fits ${gid}`, `/hook?thread=1&x=%20y fits ${gid}`])
  })

  it('S31: No excerpt is kept of what answers at a whole URL, since it may repeat the secret', async () => {
    const { url } = await serveHttp((request, response) => {
      response.writeHead(404).end(`Cannot POST ${request.url}`)
    })
    const service = parseEndpoint('alert-ops', `${url}/services/secret`)
    if (typeof service === 'string') throw new Error(service)
    const targets = targetPolicy({ services: [service], allowed: [], others: 'none', isLocal: false })
    const answer = await testCaller({ targets }).call(buildCall('alert-ops:/'))
    expect(answer).toMatchObject({ result: 'unknown', statusCode: 404 })
    expect(answer).not.toHaveProperty('excerpt')
  })

  it('S31: A whole URL that redirects is not followed, so that its secret and the alert go nowhere else', async () => {
    const elsewhere: string[] = []
    const { url: other } = await serveHttp((request, response) => {
      elsewhere.push(request.url ?? '')
      response.end()
    })
    for (const status of [301, 302, 303, 307, 308]) {
      const { url } = await serveHttp((_request, response) => {
        response.writeHead(status, { location: `${other}/stolen` }).end()
      })
      const service = parseEndpoint('alert-ops', `${url}/services/secret`)
      if (typeof service === 'string') throw new Error(service)
      const targets = targetPolicy({ services: [service], allowed: [], others: 'none', isLocal: false })
      const { result, statusCode } = await testCaller({ targets }).call(buildCall('alert-ops:/'))
      expect([result, statusCode]).toEqual(['unknown', status])
    }
    expect(elsewhere).toEqual([])
  })

  it('S18: A signed call has no digest and no signature but its own, whatever the submit gave', async () => {
    const headers = { 'content-digest': 'sha-256=:AAAA:', signature: 'a=:AAAA:', 'x-kept': '1' }
    const { request, verdict } = await received({ headers })
    expect([verdict, request.headers['x-kept']]).toEqual(['fits', '1'])
  })

  it('S18: A call is not signed without a signer, and a digest that was stored once is not passed on', async () => {
    const { request, verdict } = await received({ headers: { 'content-digest': 'sha-256=:AAAA:' } }, false)
    expect([verdict, request.headers['content-digest']]).toEqual(['missing', undefined])
  })

  it('S18: A call is signed anew for each attempt, when it is sent', async () => {
    const created: string[] = []
    const { url } = await serveHttp((request, response) => {
      created.push(/;created=(\d+)/.exec(String(request.headers['signature-input']))?.[1] ?? '')
      response.end()
    })
    let nowMs = 1_000_000
    const caller = testCaller({
      signer: callSigner(
        () => KEY,
        () => nowMs,
      ),
    })
    await caller.call(buildCall(url))
    nowMs += 2_500
    await caller.call(buildCall(url, { attempt: 2 }))
    expect(created).toEqual(['1000', '1002'])
  })
})
