import { describe, expect, it } from 'vitest'
import { buildCall, serveHttp } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

describe('S5: a redirect', () => {
  for (const status of [300, 301, 302, 303, 307, 308]) {
    it(`A redirect by ${status} is an unknown answer, and its target sees no connection`, async () => {
      const target = await serveHttp((_request, response) => response.end())
      const server = await serveHttp((_request, response) => {
        response.writeHead(status, {
          location: `${target.url}/latest/meta-data`,
          refresh: `0;url=${target.url}`,
        })
        response.end()
      })
      const caller = testCaller({ connectionsPerOriginMax: 1 })
      const answer = await caller.call(buildCall(server.url))
      expect(answer).toEqual({ result: 'unknown', statusCode: status })
      // A second call shows that the redirect is not followed late either.
      await caller.call(buildCall(server.url))
      expect([server.countAccepted(), target.countAccepted()]).toEqual([1, 0])
    })
  }
})

describe('S6: a call', () => {
  it('A call carries its own headers and those of Counterstep, and nothing else', async () => {
    const names: string[][] = []
    const server = await serveHttp((request, response) => {
      names.push(Object.keys(request.headers).sort())
      response.setHeader('set-cookie', 'session=1; Path=/')
      response.setHeader('www-authenticate', 'Basic realm="x"')
      response.end()
    })
    const caller = testCaller()
    for (let n = 0; n < 3; n++) await caller.call(buildCall(server.url, { headers: { 'x-own': '1' } }))
    const sent = [
      'accept-encoding',
      'connection',
      'content-length',
      'content-type',
      'counterstep-accepted-at',
      'counterstep-attempt',
      'counterstep-branch-id',
      'counterstep-epoch',
      'counterstep-gid',
      'counterstep-kind',
      'counterstep-op',
    ]
    expect(names).toEqual(Array(3).fill([...sent, 'host', 'user-agent', 'x-own']))
  })
})

describe('S9: a header that is not for a caller to set', () => {
  it('A header that a caller may not set is left out of the call of a transaction that was stored with it', async () => {
    const seen: (string | string[] | undefined)[] = []
    const server = await serveHttp((request, response) => {
      const { signature, cookie } = request.headers
      seen.push(signature, cookie, request.headers['signature-input'], request.headers['content-digest'])
      seen.push(request.headers['counterstep-tenant'], request.headers['counterstep-attempt'])
      response.end()
    })
    const headers = {
      signature: 'sig1=:x:',
      'signature-input': 'sig1=()',
      'content-digest': 'sha-256=:x:',
      'counterstep-tenant': 'other',
      'counterstep-attempt': '99',
      cookie: 'a=b',
    }
    expect((await testCaller().call(buildCall(server.url, { headers }))).result).toBe('success')
    expect(seen).toEqual([undefined, undefined, undefined, undefined, undefined, '1'])
  })
})

describe('S7: an excerpt of the answer', () => {
  it('An excerpt is left out if it is switched off, and the words in a body still count', async () => {
    const server = await serveHttp((_request, response) => response.end('secret FAILURE'))
    const off = testCaller({ answerExcerpts: false })
    expect(await off.call(buildCall(server.url, { wordsCount: true }))).toEqual({
      result: 'failure',
      statusCode: 200,
    })
    const on = await testCaller().call(buildCall(server.url))
    expect(on.excerpt).toBe('secret FAILURE')
  })
})
