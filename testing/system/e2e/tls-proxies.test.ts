import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:http2'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, type KeptProcess } from '@counterstep/test-servers'
import { selfSignedCertificate } from '@counterstep/test-servers/certificate'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { until } from '@counterstep/test-servers/until'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startBranchService } from '../../../packages/cli/test/branch-service.ts'
import { ServeProcess } from '../../../packages/cli/test/serve-process.ts'
import { describeWith } from './beside/describe-with.ts'
import { startCaddy, startNginx } from './beside/tls-proxies.ts'
import { readChildrenMib, UnendedBodies } from './beside/unended-bodies.ts'

const START_MS_MAX = 15_000
const STREAM_MS_MAX = 10_000
const ANSWER_MS_MAX = 5_000
const DAY_MS = 86_400_000
/** A submit has this size at most. */
const MIB = 1024 * 1024
const START = { nginx: startNginx, caddy: startCaddy }

interface Answer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
}

for (const name of ['nginx', 'caddy'] as const) {
  await describeWith(name, 'a server behind a proxy that ends TLS', (program) => {
    const certificate = selfSignedCertificate({
      validFrom: new Date(Date.now() - DAY_MS),
      validTo: new Date(Date.now() + DAY_MS),
      address: '127.0.0.1',
    })
    const agent = new Agent({ ca: certificate.cert, keepAlive: true })
    let folder = ''
    let key = ''
    let port = 0
    let server: ServeProcess
    let proxy: KeptProcess
    let branch: Awaited<ReturnType<typeof startBranchService>>

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), `counterstep-${name}-`))
      const keysFile = join(folder, 'keys.json')
      const create = ['keys', 'create', '--keys-file', keysFile, '--name', 'a', '--scopes', 'submit,read']
      key = spawnSync(process.execPath, [COUNTERSTEP_PROGRAM, ...create], { encoding: 'utf8' }).stdout.trim()
      branch = await startBranchService()
      const given = ['--keys-file', keysFile, '--services', `bank=${new URL(branch.url).origin}`]
      const started = await ServeProcess.listening(join(folder, 'data'), ...given)
      server = started.process
      port = await freePort()
      const serverPort = Number(new URL(started.url).port)
      proxy = await START[name]({ program, port, serverPort, certificate })
      await until(`${name} answers`, START_MS_MAX, isReady)
    })
    afterAll(async () => {
      agent.destroy()
      await proxy.signal('SIGTERM')
      await proxy.end(START_MS_MAX)
      server.signal('SIGTERM')
      await server.ended()
      branch.close()
      rmSync(folder, { recursive: true, force: true })
    })

    async function isReady(): Promise<boolean> {
      try {
        return (await ask('GET', '/health/ready')).status === 200
      } catch (error: unknown) {
        // It does not listen yet.
        if (error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED') return false
        throw error
      }
    }

    function open(
      method: string,
      path: string,
      headers: Readonly<Record<string, string>> = {},
      body = '',
    ): Promise<IncomingMessage> {
      return new Promise((resolve, reject) => {
        const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, resolve)
        sent.on('error', reject)
        sent.end(body)
      })
    }

    async function ask(...given: Parameters<typeof open>): Promise<Answer> {
      const message = await open(...given)
      message.setEncoding('utf8')
      let text = ''
      for await (const part of message) text += part
      return { status: message.statusCode ?? 0, headers: message.headers, text }
    }

    const bearer = () => ({ authorization: `Bearer ${key}` })
    const submit = (saga: object, padding = '') =>
      ask(
        'POST',
        '/v1/transactions',
        { ...bearer(), 'content-type': 'application/json', prefer: 'wait=10' },
        `${JSON.stringify(saga)}${padding}`,
      )
    const branches = [{ action: 'bank:/debit', compensation: 'bank:/debit-undo' }]

    it('A saga is submitted and found, by a gid that has a slash', async () => {
      const submitted = await submit({ gid: 'a/b', branches })
      expect(JSON.parse(submitted.text)).toMatchObject({ gid: 'a/b', status: 'succeeded' })
      const found = await ask('GET', '/v1/transactions/a%2Fb', bearer())
      expect(JSON.parse(found.text)).toMatchObject({ gid: 'a/b', status: 'succeeded' })
    })

    it('A body of 1 MiB passes, and a larger one is refused in the words of the server', async () => {
      const saga = { branches: [{ ...branches[0], payload: { text: 'x'.repeat(16_384) } }] }
      const padding = ' '.repeat(MIB - JSON.stringify(saga).length)
      expect(JSON.parse((await submit(saga, padding)).text)).toMatchObject({ status: 'succeeded' })
      const refused = await submit(saga, `${padding} `)
      expect(refused.status).toBe(413)
      expect(refused.headers['content-type']).toMatch('application/problem+json')
    })

    it('The console is shown, and its session is kept in a cookie for https alone', async () => {
      const page = await ask('GET', '/console/')
      expect([page.status, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html')])
      const origin = `https://127.0.0.1:${port}`
      const headers = { origin, 'content-type': 'application/json' }
      const path = '/v1/session'
      const login = await ask('POST', path, headers, JSON.stringify({ key, path: '/' }))
      expect(login.status, login.text).toBe(200)
      const [cookie = ''] = login.headers['set-cookie'] ?? []
      expect(cookie).toMatch(/^__Secure-.*; Secure/)
      const { secret } = JSON.parse(login.text) as { readonly secret: string }
      const session = { cookie: cookie.split(';')[0] ?? '', 'counterstep-console': secret }
      expect((await ask('GET', '/v1/transactions', session)).status).toBe(200)
      const foreign = await ask('POST', path, { ...headers, origin: 'https://elsewhere.example' }, '{}')
      expect(foreign.status).toBe(403)
    })

    it('A stream of changes is passed on as it comes', async () => {
      const stream = await open('GET', '/v1/live?topics=overview', {
        ...bearer(),
        accept: 'text/event-stream',
      })
      expect(stream.statusCode).toBe(200)
      const arrivedAt: number[] = []
      stream.on('data', () => arrivedAt.push(performance.now()))
      try {
        // The server sends one each second. Held back, several would come at once.
        await until('three events came', STREAM_MS_MAX, () => arrivedAt.length >= 3)
      } finally {
        stream.destroy()
      }
      const [first = 0, , third = 0] = arrivedAt
      expect(third - first).toBeGreaterThan(500)
    })

    it('A browser that speaks HTTP/2 is answered too', async () => {
      const session = connect(`https://127.0.0.1:${port}`, { ca: certificate.cert })
      try {
        const stream = session.request({ ':path': '/v1/transactions', ...bearer() })
        const [headers] = (await once(stream, 'response')) as [Readonly<Record<string, unknown>>]
        expect([session.alpnProtocol, headers[':status']]).toEqual(['h2', 200])
      } finally {
        session.destroy()
      }
    })

    it('An address that a header names counts for nothing, and a good key passes beside bad ones', async () => {
      const guess = (last: number) =>
        ask('GET', '/v1/transactions', { authorization: 'Bearer wrong', 'x-forwarded-for': `10.0.0.${last}` })
      const guesses = await Promise.all(Array.from({ length: 40 }, (_none, index) => guess(index + 1)))
      const statuses = new Set(guesses.map(({ status }) => status))
      // All of them come from one address, the proxy's, and more than ten in a second are too many.
      expect(statuses).toEqual(new Set([401, 429]))
      expect((await ask('GET', '/v1/transactions', bearer())).status).toBe(200)
    })

    if (name === 'nginx' && process.platform === 'linux') {
      for (const [what, length] of [
        ['that says its length', { 'content-length': String(MIB) }],
        ['that comes in chunks', { 'transfer-encoding': 'chunked' }],
      ] as const)
        it(`S41: A large body ${what}, without a good key, is refused before it has come`, async () => {
          const headers = { ...length, authorization: 'Bearer wrong', 'content-type': 'application/json' }
          const sent = request({
            host: '127.0.0.1',
            port,
            method: 'POST',
            path: '/v1/transactions',
            headers,
            agent,
          })
          sent.on('error', () => undefined)
          sent.write('{')
          try {
            const signal = AbortSignal.timeout(ANSWER_MS_MAX)
            const [{ statusCode }] = (await once(sent, 'response', { signal })) as [IncomingMessage]
            expect([401, 429]).toContain(statusCode)
          } finally {
            sent.destroy()
          }
        })

      it('S41: Large bodies that strangers do not end hold no memory', async () => {
        const before = readChildrenMib(proxy.pid)
        const flood = { port, certificate, from: '127.0.0.1', sessions: 4, streamsOfEach: 24, bytes: MIB }
        const bodies = await UnendedBodies.begin(flood)
        try {
          await until('all are answered', STREAM_MS_MAX, () => bodies.statuses.length === 96)
          expect(readChildrenMib(proxy.pid) - before).toBeLessThan(24)
        } finally {
          bodies.end()
        }
      })

      it('S41: An address has 100 requests at a time, and others are answered beside them', async () => {
        const flood = { port, certificate, from: '127.0.0.2', sessions: 4, streamsOfEach: 32, bytes: 3_999 }
        const bodies = await UnendedBodies.begin(flood)
        try {
          await until('those above are answered', STREAM_MS_MAX, () => bodies.statuses.length === 28)
          expect(new Set(bodies.statuses)).toEqual(new Set([503]))
          expect((await ask('GET', '/v1/transactions', bearer())).status).toBe(200)
        } finally {
          bodies.end()
        }
      })

      it('S42: Strangers of many addresses keep each other out, and no caller of an own network', async () => {
        const of = (from: string, sessions: number) =>
          UnendedBodies.begin({ port, certificate, from, sessions, streamsOfEach: 20, bytes: 3_999 })
        const first = await of('127.0.0.3', 4)
        const second = await of('127.0.0.4', 2)
        try {
          await until('the last strangers are answered', STREAM_MS_MAX, () => second.statuses.length === 10)
          expect(new Set(second.statuses)).toEqual(new Set([503]))
          expect((await ask('GET', '/v1/transactions', bearer())).status).toBe(200)
        } finally {
          first.end()
          second.end()
        }
      })
    }
  })
}
