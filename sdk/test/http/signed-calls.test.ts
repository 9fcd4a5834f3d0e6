import { IDENTITY_HEADERS } from '@counterstep/protocol'
import { createSigningKeyText, parseSigningKey, toPublicJwk } from '@counterstep/signature'
import express from 'express'
// @ts-expect-error: The alias has no types; where it is used it gets those of Express 5.
import express4 from 'express4'
import fastify from 'fastify'
import { describe, expect, it, vi } from 'vitest'
import * as ofExpress from '../../src/express.ts'
import * as ofFastify from '../../src/fastify.ts'
import type { Branch, BranchError } from '../../src/index.ts'
import { type SignedCallsOptions, signedCallCheck } from '../../src/signatures.ts'
import { type Header, KEY, listening, PUBLIC_KEY, QUERY, send, signedRequest } from './signed-request.ts'

const BASE = 'https://bank.example'

interface Served {
  readonly url: string
  /** These are the calls that the handlers saw. */
  readonly branches: readonly Branch[]
  readonly refused: readonly BranchError[]
}

/** These faults are wired into a service by the tests, which must notice them. */
type Mutant = 'unguarded' | 'deaf-to-path' | 'deaf-to-path-with-identity'

/** The headers of the identity would show the forgery, so the mutant that is deaf to the path loses them, too. */
function dropIdentity(headers: Record<string, unknown>, mutant: Mutant): void {
  if (mutant !== 'deaf-to-path') return
  for (const name of Object.values(IDENTITY_HEADERS)) delete headers[name]
}

type Address = { readonly baseUrl: string } | { readonly trustHost: true }

type Serve = (
  options?: Partial<Omit<SignedCallsOptions, 'baseUrl' | 'trustHost'>>,
  mutant?: Mutant,
  address?: Address,
) => Promise<Served>

function fixture() {
  const branches: Branch[] = []
  const refused: BranchError[] = []
  const barrier = {
    run: async (_call: unknown, effect: (tx: undefined) => unknown) => {
      await effect(undefined)
      return { decision: 'run' as const }
    },
    queryPrepared: async () => 'committed' as const,
  }
  const options = {
    keys: [PUBLIC_KEY],
    onRefused: (error: BranchError) => refused.push(error),
  }
  const handler = (_tx: undefined, branch: Branch) => {
    branches.push(branch)
  }
  return { branches, refused, barrier, options, handler }
}

/** This path is signed, and a mutant takes every other for it. */
const SIGNED_PATH = `/debit?${QUERY}`

const serveFastify: Serve = async (more, mutant, address = { baseUrl: BASE }) => {
  const { branches, refused, barrier, options, handler } = fixture()
  const app = fastify()
  const guard = ofFastify.signedCalls({ ...options, ...address, ...more })
  if (mutant?.startsWith('deaf-to-path')) {
    app.addHook('preHandler', async (request) => dropIdentity(request.headers, mutant))
    app.addHook(
      'preParsing',
      (request, reply, payload) =>
        guard(Object.create(request, { originalUrl: { value: SIGNED_PATH } }), reply, payload) as never,
    )
  } else if (mutant === undefined) app.addHook('preParsing', guard)
  app.post('/debit', ofFastify.branchHandler(barrier, handler))
  app.post('/debit-undo', ofFastify.branchHandler(barrier, handler))
  app.get('/query', ofFastify.queryPreparedHandler(barrier))
  await app.ready()
  return { url: await listening((request, response) => app.routing(request, response)), branches, refused }
}

function serveExpress(make: typeof express): Serve {
  return async (more, mutant, address = { baseUrl: BASE }) => {
    const { branches, refused, barrier, options, handler } = fixture()
    const app = make()
    app.set('env', 'test')
    const guard = ofExpress.signedCalls({ ...options, ...address, ...more })
    if (mutant?.startsWith('deaf-to-path')) {
      app.use((request, response, next) => {
        const { originalUrl } = request
        request.originalUrl = SIGNED_PATH
        void guard(request, response, (error?: unknown) => {
          request.originalUrl = originalUrl
          dropIdentity(request.headers, mutant)
          next(error)
        })
      })
    } else if (mutant === undefined) app.use(guard)
    app.use(make.json())
    app.post('/debit', ofExpress.branchHandler(barrier, handler))
    app.post('/debit-undo', ofExpress.branchHandler(barrier, handler))
    app.get('/query', ofExpress.queryPreparedHandler(barrier))
    return { url: await listening(app), branches, refused }
  }
}

const FRAMEWORKS: readonly (readonly [string, Serve])[] = [
  ['Fastify 5', serveFastify],
  ['Express 5', serveExpress(express)],
  ['Express 4', serveExpress(express4 as typeof express)],
]

for (const [name, serve] of FRAMEWORKS) {
  describe(`signedCalls of ${name}`, () => {
    it('S19: Signed calls run: one with a payload, a query-back without a body, and a large one', async () => {
      const { url, branches } = await serve()
      const body = '{"name":"Zoë","cents":1}'
      expect((await send(url, signedRequest(BASE, `/debit?${QUERY}`, { body }))).status).toBe(200)
      expect(branches[0]).toMatchObject({ gid: 'g-1', attempt: 1, payload: { name: 'Zoë', cents: 1 } })
      const query = '/query?gid=g-1&trans_type=msg&branch_id=00&op=msg'
      const get = signedRequest(BASE, query, { method: 'GET', contentType: undefined, body: '' })
      expect((await send(url, get)).status).toBe(200)
      const large = JSON.stringify({ text: 'x'.repeat(90_000) })
      expect((await send(url, signedRequest(BASE, `/debit?${QUERY}`, { body: large }))).status).toBe(200)
      expect(branches).toHaveLength(2)
    })

    it('S19: An onRefused that is an async function may be rejected, and the call is refused all the same', async () => {
      const written = vi.spyOn(console, 'error').mockReturnValue()
      const rejected = new Error('the log is down')
      const { url } = await serve({ onRefused: (() => Promise.reject(rejected)) as () => void })
      const unsigned = { ...signedRequest(BASE, `/debit?${QUERY}`), headers: [] }
      expect((await send(url, unsigned)).status).toBe(401)
      await expect.poll(() => written.mock.lastCall?.at(-1)).toBe(rejected)
      written.mockRestore()
    })

    it('S19: A call that is not signed rightly is answered with 401, a problem with a code, and does not run', async () => {
      const { url, branches, refused } = await serve()
      const path = `/debit?${QUERY}`
      const signed = signedRequest(BASE, path)
      const stranger = parseSigningKey(createSigningKeyText('ed25519'))
      const minutes = (count: number) => ({ createdAtMs: Date.now() + count * 60_000 })
      const twice = (wanted: string): readonly Header[] =>
        signed.headers.flatMap((header) => (header[0] === wanted ? [header, header] : [header]))
      const cases = [
        ['BRANCH_UNSIGNED', { ...signed, headers: signed.headers.slice(0, 4) }],
        ['BRANCH_SIGNATURE_INVALID', { ...signed, body: '{"cents":900}' }],
        ['BRANCH_SIGNATURE_INVALID', { ...signed, path: path.replace('action', 'compensate') }],
        ['BRANCH_SIGNATURE_INVALID', { ...signed, path: path.replace('g-1', 'g-2') }],
        ['BRANCH_SIGNATURE_INVALID', { ...signed, path: path.replace('/debit', '/debit-undo') }],
        ['BRANCH_SIGNATURE_INVALID', { ...signed, headers: twice('signature') }],
        ['BRANCH_SIGNATURE_INVALID', { ...signed, headers: twice('content-type') }],
        ['BRANCH_SIGNATURE_INVALID', { ...signed, headers: twice('counterstep-epoch') }],
        ['BRANCH_SIGNATURE_INVALID', signedRequest('https://shop.example', path)],
        ['BRANCH_SIGNATURE_KEY_UNKNOWN', signedRequest(BASE, path, { key: stranger })],
        ['BRANCH_SIGNATURE_INVALID', signedRequest(BASE, path, { key: { ...stranger, keyId: KEY.keyId } })],
        ['BRANCH_SIGNATURE_EXPIRED', signedRequest(BASE, path, minutes(-6))],
        ['BRANCH_SIGNATURE_EXPIRED', signedRequest(BASE, path, minutes(6))],
      ] as const
      for (const [index, [code, request]] of cases.entries()) {
        const answer = await send(url, request)
        expect([answer.status, answer.code], `case ${index}`).toEqual([401, code])
        expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
        expect(answer.headers['www-authenticate']).toBe('Signature')
      }
      expect(branches).toEqual([])
      expect(refused.map(({ code }) => code)).toEqual(cases.map(([code]) => code))
      expect((await send(url, signed)).status).toBe(200)
    })

    it('S19: The body of an unsigned call is not read, and no body is read beyond 1 MiB', async () => {
      const { url, branches } = await serve()
      const signed = signedRequest(BASE, `/debit?${QUERY}`, { body: `"${'x'.repeat(1024 * 1024)}"` })
      const answer = await send(url, signed)
      expect([answer.status, answer.code]).toEqual([401, 'BRANCH_SIGNATURE_INVALID'])
      // Its sender never ends it: a service that waited for the end would never answer.
      const unsigned = await fetch(`${url}/debit?${QUERY}`, {
        method: 'POST',
        body: new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from('{')) }),
        headers: { 'content-type': 'application/json' },
        duplex: 'half',
      } as RequestInit)
      expect([unsigned.status, await unsigned.json()]).toEqual([
        401,
        expect.objectContaining({ code: 'BRANCH_UNSIGNED' }),
      ])
      expect(branches).toEqual([])
    })

    it('S19: The Host header is taken for the address where it is trusted by name', async () => {
      const { url } = await serve({}, undefined, { trustHost: true })
      expect((await send(url, signedRequest(url, `/debit?${QUERY}`))).status).toBe(200)
      expect((await send(url, signedRequest(BASE, `/debit?${QUERY}`))).status).toBe(401)
      const posing = signedRequest(url, `/debit?${QUERY}`)
      const forwarded: readonly Header[] = [
        ['x-forwarded-host', 'bank.example'],
        ['x-forwarded-proto', 'https'],
      ]
      expect((await send(url, { ...posing, headers: [...posing.headers, ...forwarded] })).status).toBe(200)
      const outside = signedRequest(BASE, `/debit?${QUERY}`)
      expect((await send(url, { ...outside, headers: [...outside.headers, ...forwarded] })).status).toBe(401)
    })

    // Each is a whole call that the orchestrator signed for the shop, sent on by another party that saw it.
    const FOR_THE_SHOP: readonly (readonly [string, string, readonly Header[]])[] = [
      ['as it came', '', [['host', 'shop.example']]],
      ['with the default port written out', '', [['host', 'shop.example:80']]],
      ['with its host in upper case', '', [['host', 'SHOP.Example']]],
      ['with a dot behind its host', '', [['host', 'shop.example.']]],
      ['with X-Forwarded-Host', '', [['x-forwarded-host', 'shop.example']]],
      ['with Forwarded', '', [['forwarded', 'host=shop.example;proto=http']]],
      ['with its whole URL in the request line', 'http://shop.example', [['host', 'shop.example']]],
    ]
    const sentOn = (prefix: string, headers: readonly Header[]) => {
      const signed = signedRequest('http://shop.example', `/debit?${QUERY}`)
      return { ...signed, path: prefix + signed.path, headers: [...headers, ...signed.headers] }
    }

    for (const [how, prefix, headers] of FOR_THE_SHOP) {
      it(`S43: A call that was signed for another service, sent on ${how}, does not run`, async () => {
        const { url, branches } = await serve({}, undefined, { baseUrl: 'http://bank.example' })
        const answer = await send(url, sentOn(prefix, headers))
        expect([answer.status >= 400, branches]).toEqual([true, []])
        if (prefix === '') expect(answer.code).toBe('BRANCH_SIGNATURE_INVALID')
      })
    }

    it('S43: Mutant: a call that was signed for another service runs where the Host header is trusted', async () => {
      const { url, branches } = await serve({}, undefined, { trustHost: true })
      for (const [, prefix, headers] of FOR_THE_SHOP.slice(0, 3))
        expect((await send(url, sentOn(prefix, headers))).status).toBe(200)
      expect(branches).toHaveLength(3)
    })

    it('S43: A base URL is read as any URL, in lower case and without the default port', async () => {
      const { url } = await serve({}, undefined, { baseUrl: 'https://BANK.example:443' })
      expect((await send(url, signedRequest(BASE, `/debit?${QUERY}`))).status).toBe(200)
    })

    it('S19: The path of the base URL that a proxy took away is added', async () => {
      const { url } = await serve({}, undefined, { baseUrl: `${BASE}/bank/` })
      expect((await send(url, signedRequest(`${BASE}/bank`, `/debit?${QUERY}`))).status).toBe(200)
      expect((await send(url, signedRequest(BASE, `/debit?${QUERY}`))).status).toBe(401)
    })

    it('S20: A call that is remembered is refused, and so is one that could not be remembered', async () => {
      let nowMs = Date.now()
      const { url, branches } = await serve({ callsRememberedMax: 2, now: () => nowMs })
      const call = (attempt: string) =>
        signedRequest(BASE, `/debit?${QUERY}`, { attempt, createdAtMs: nowMs })
      const first = call('1')
      expect((await send(url, first)).status).toBe(200)
      const again = await send(url, first)
      expect([again.status, again.code]).toEqual([401, 'BRANCH_SIGNATURE_REPLAYED'])
      expect((await send(url, call('2'))).status).toBe(200)
      const third = await send(url, call('3'))
      expect([third.status, third.code]).toEqual([503, 'BRANCH_MEMORY_FULL'])
      nowMs += 601_000
      expect((await send(url, call('4'))).status).toBe(200)
      expect(branches.map(({ attempt }) => attempt)).toEqual([1, 2, 4])
    })

    it('S22: The old and the new key are taken while both are given', async () => {
      const next = parseSigningKey(createSigningKeyText('ed25519'))
      const secret = createSigningKeyText('hmac-sha256')
      const { url } = await serve({ keys: [PUBLIC_KEY, JSON.parse(toPublicJwk(next) ?? ''), secret] })
      for (const key of [KEY, next, parseSigningKey(secret)]) {
        expect((await send(url, signedRequest(BASE, `/debit?${QUERY}`, { key }))).status).toBe(200)
      }
    })

    it('S18: Mutant: a forged call runs without the guard', async () => {
      const unsigned = {
        ...signedRequest(BASE, `/debit?${QUERY}`),
        headers: [['content-type', 'application/json']],
      } as const
      const { url, branches } = await serve({}, 'unguarded')
      expect((await send(url, unsigned)).status).toBe(200)
      expect(branches).toHaveLength(1)
    })

    it('S18: Mutant: an action runs as its undo where the path is not covered', async () => {
      const action = signedRequest(BASE, SIGNED_PATH)
      const undo = { ...action, path: `/debit-undo?${QUERY.replace('action', 'compensate')}` }
      const { url, branches } = await serve({}, 'deaf-to-path')
      expect((await send(url, undo)).status).toBe(200)
      expect(branches.map(({ op }) => op)).toEqual(['compensate'])
      expect((await send((await serve()).url, undo)).status).toBe(401)
    })

    it('S39: A query that is not the signed headers’ own does not run, even where the path is not covered', async () => {
      const action = signedRequest(BASE, SIGNED_PATH)
      const undo = { ...action, path: `/debit-undo?${QUERY.replace('action', 'compensate')}` }
      const { url, branches } = await serve({}, 'deaf-to-path-with-identity')
      expect((await send(url, undo)).status).toBe(400)
      expect(branches).toEqual([])
    })
  })
}

describe('signedCalls', () => {
  it('S19: Options that could never verify a call, or are not for a service to have, are refused at construction', () => {
    for (const options of [
      { keys: [], baseUrl: BASE },
      { keys: [''], baseUrl: BASE },
      { keys: [PUBLIC_KEY, PUBLIC_KEY], baseUrl: BASE },
      { keys: [createSigningKeyText('ed25519')], baseUrl: BASE },
      { keys: [PUBLIC_KEY], baseUrl: 'bank.example' },
      { keys: [PUBLIC_KEY], baseUrl: 'https://bank.example/?x=1' },
      { keys: [PUBLIC_KEY], baseUrl: BASE, callsRememberedMax: -1 },
    ]) {
      expect(() => ofExpress.signedCalls(options)).toThrow(TypeError)
      expect(() => ofFastify.signedCalls(options)).toThrow(TypeError)
    }
  })

  it('S43: Construction fails without baseUrl and trustHost, with both, and with a value that only looks like one', () => {
    const keys = [PUBLIC_KEY]
    for (const address of [
      {},
      { baseUrl: undefined },
      { baseUrl: '' },
      { baseUrl: null },
      { trustHost: false },
      { trustHost: 'true' },
      { trustHost: 1 },
      { baseUrl: BASE, trustHost: true },
    ]) {
      const options = { keys, ...address } as SignedCallsOptions
      expect(() => ofExpress.signedCalls(options)).toThrow(/baseUrl/)
      expect(() => ofFastify.signedCalls(options)).toThrow(/baseUrl/)
      expect(() => signedCallCheck(options)).toThrow(/baseUrl/)
    }
  })

  it('S43: Options with neither baseUrl nor trustHost do not compile, and neither do options with both', () => {
    const keys = [PUBLIC_KEY]
    const make = (options: SignedCallsOptions) => () => signedCallCheck(options)
    // @ts-expect-error: Neither is given.
    expect(make({ keys })).toThrow(TypeError)
    // @ts-expect-error: Both are given.
    expect(make({ keys, baseUrl: BASE, trustHost: true })).toThrow(TypeError)
    // @ts-expect-error: A variable that may be missing is no base URL.
    expect(make({ keys, baseUrl: process.env.NO_SUCH_VARIABLE })).toThrow(TypeError)
    expect(make({ keys, trustHost: true })).not.toThrow()
  })
})
