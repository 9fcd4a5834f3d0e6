import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canary, findCanaries } from '@counterstep/test-servers/canary'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ServeProcess } from '../../../packages/cli/test/serve-process.ts'

const SECRET_HEADERS = {
  authorization: `Bearer ${canary('request-token')}`,
  cookie: `session=${canary('cookie')}`,
  'x-api-key': canary('api-key'),
  'counterstep-key': canary('our-key'),
}
const PAGES = [
  '/',
  '/metrics',
  '/health/live',
  '/health/ready',
  '/openapi.json',
  '/docs',
  '/v1/transactions/none',
  '/none',
]
const DTM_PAGES = ['/api/dtmsvr/version', '/api/metrics', '/api/ping', '/api/dtmsvr/query?gid=none', '/none']

/** A branch that tells secrets of its own, and answers as its path asks: `/200`, `/409`, `/302`, `/break`. */
async function startTellingBranch(): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const word = request.url?.split(/[/?]/)[1] ?? ''
    if (word === 'break') {
      request.socket.resetAndDestroy()
      return
    }
    const secret = canary(`answer-${word}`)
    response.writeHead(Number(word), {
      location: `http://127.0.0.1:9/?${secret}`,
      'set-cookie': secret,
      'x-secret': secret,
    })
    response.end(JSON.stringify({ secret }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

describe('S28: secrets', () => {
  let folder = ''
  let branch: { readonly url: string; readonly server: Server }
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'counterstep-canary-'))
    branch = await startTellingBranch()
  })
  afterAll(async () => {
    branch.server.closeAllConnections()
    branch.server.close()
    await rm(folder, { recursive: true, force: true })
  })

  function saga(gid: string, word: string) {
    const target = (op: string) => `${branch.url}/${op}?token=${canary(`query-${word}`)}`
    const first = {
      action: target('200'),
      compensation: target('200'),
      payload: { secret: canary('payload') },
    }
    const second = {
      action: target(word),
      body: canary('body'),
      headers: { authorization: canary('header') },
    }
    return {
      gid,
      headers: { 'x-secret': canary('saga-header') },
      retry: { initialMs: 10, limit: 2 },
      branches: [first, second],
    }
  }

  async function post(
    url: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const type = { 'content-type': 'application/json' }
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...type, ...SECRET_HEADERS, ...headers },
      body: text,
    })
    return `${answer.status} ${JSON.stringify([...answer.headers])} ${await answer.text()}`
  }

  async function driveNative(url: string): Promise<Record<string, string>> {
    const submit = `${url}/v1/transactions`
    const wait = { prefer: 'wait=5' }
    // A view shows what a branch answered, for its caller; the rest of what it shows must hold no secret.
    for (const word of ['200', '409', '500', '302', 'break'])
      await post(submit, saga(`s-${word}`, word), wait)
    const hostile = {
      'not JSON': `{"secret":"${canary('broken-json')}`,
      'a number': `{"gid":"n","branches":[{"action":"${branch.url}/200","payload":{"a":12345678901234567890,"b":"${canary('inexact')}"}}]}`,
      'a prototype': `{"__proto__":{"secret":"${canary('prototype')}"}}`,
      'a wrong type': { gid: { secret: canary('object-gid') }, branches: canary('branches') },
      'a password in the URL': { branches: [{ action: `http://user:${canary('userinfo')}@127.0.0.1:9/a` }] },
      'a header of two lines': {
        branches: [{ action: `${branch.url}/200`, headers: { 'x-a': `a\r\n${canary('split')}` } }],
      },
      'the same gid with other content': {
        ...saga('s-200', '200'),
        delayMs: 1,
        headers: { 'x-a': canary('conflict') },
      },
      'too long': { branches: [{ action: `${branch.url}/200`, body: canary('long').repeat(60_000) }] },
    }
    const answers: Record<string, string> = {}
    for (const [name, body] of Object.entries(hostile))
      answers[`answer to ${name}`] = await post(submit, body)
    expect(answers['answer to a password in the URL']).toMatch(/^422 /)
    answers['answer to a wrong method'] = await (
      await fetch(submit, { method: 'PUT', headers: SECRET_HEADERS })
    ).text()
    answers.list = await (
      await fetch(`${submit}?cursor=${canary('cursor')}`, { headers: SECRET_HEADERS })
    ).text()
    for (const page of PAGES)
      answers[page] = await (await fetch(url + page, { headers: SECRET_HEADERS })).text()
    return answers
  }

  async function driveDtm(url: string): Promise<Record<string, string>> {
    const submit = `${url}/api/dtmsvr/submit`
    const request = (gid: string, word: string) => ({
      gid,
      trans_type: 'saga',
      steps: [
        { action: `${branch.url}/${word}?token=${canary('dtm-query')}`, compensate: `${branch.url}/200` },
      ],
      payloads: [canary('dtm-payload')],
      branch_headers: { authorization: canary('dtm-header') },
      req_extra: { secret: canary('dtm-extra') },
      wait_result: true,
      retry_limit: 1,
      retry_interval: 1,
    })
    for (const word of ['200', '409']) await post(submit, request(`d-${word}`, word))
    const answers: Record<string, string> = {
      'DTM: not JSON': await post(submit, `{"gid":"x","payloads":["${canary('dtm-broken')}`),
      'DTM: wrong type': await post(submit, {
        ...request('w', '200'),
        payloads: { secret: canary('dtm-type') },
      }),
      'DTM: password in the URL': await post(submit, {
        ...request('u', '200'),
        steps: [{ action: `http://u:${canary('dtm-userinfo')}@127.0.0.1:9/` }],
      }),
    }
    for (const page of DTM_PAGES)
      answers[`DTM ${page}`] = await (await fetch(url + page, { headers: SECRET_HEADERS })).text()
    return answers
  }

  it('S28: No secret of payloads, headers, URLs and branch answers is in any output of a server on both HTTP APIs', {
    timeout: 90_000,
  }, async () => {
    const place = ['--data', folder, '--port', '0', '--dtm-port', '0', '--ready-json', '--log-level', 'debug']
    const process = new ServeProcess(['serve', ...place, '--branch-timeout-ms', '2000'], {
      SECRET_OF_ANOTHER: canary('environment'),
    })
    const url = await process.url()
    const { dtmUrl } = JSON.parse(process.stdout.find((line) => line.startsWith('{"url":')) ?? '{}') as {
      readonly dtmUrl: string
    }
    const outputs = { ...(await driveNative(url)), ...(await driveDtm(dtmUrl)) }
    process.signal('SIGTERM')
    expect((await process.ended()).code).toBe(0)
    expect(findCanaries({ ...outputs, 'what it printed': process.output })).toEqual([])
    // Otherwise the drive has missed its purpose.
    expect(outputs['/metrics']).toMatch(/result="failure"|failed/)
  })

  it('S28: No password given to the command line is in what it prints', { timeout: 60_000 }, async () => {
    const secret = canary('store-password')
    const refused = ['--store-wait-ms', '0', '--port', '0', '--dtm-port', 'off']
    const lines: readonly (readonly [readonly string[], Readonly<Record<string, string>>])[] = [
      [['serve', '--store', `mysql://user:${secret}@127.0.0.1:9/db`, ...refused], {}],
      [['serve', '--store', `redis://user:${secret}@127.0.0.1:9`, ...refused], {}],
      [
        ['serve', '--store', `mysql://user@127.0.0.1:9/db`, ...refused],
        { COUNTERSTEP_STORE_PASSWORD: secret },
      ],
      [['serve', '--store', `postgres://user:${secret}@127.0.0.1:9/db`, ...refused], {}],
      [['serve', '--store', `mysql://user:${secret}@[bad/db?x=${secret}`], {}],
      [['migrate', '--store', `mysql://user:${secret}@127.0.0.1:9/db`, '--store-wait-ms', '0'], {}],
      [['serve', '--store-password', secret], {}],
      [['serve', secret], {}],
      [['serve', '--port', secret], {}],
    ]
    const printed: Record<string, string> = {}
    for (const [args, environment] of lines) {
      const process = new ServeProcess(args, environment)
      const name = args.join(' ').replaceAll(secret, '…')
      expect([name, (await process.ended()).code]).toEqual([name, 1])
      printed[name] = process.output
    }
    expect(findCanaries(printed)).toEqual([])
  })
})
