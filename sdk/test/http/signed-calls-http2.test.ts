import { once } from 'node:events'
import { connect, createServer, type Http2Server, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'
import * as ofExpress from '../../src/express.ts'
import * as ofFastify from '../../src/fastify.ts'
import { PUBLIC_KEY, QUERY, type Request, signedRequest } from './signed-request.ts'

const BASE = 'https://bank.example'
const PATH = `/debit?${QUERY}`
const OPTIONS = { keys: [PUBLIC_KEY], baseUrl: BASE, onRefused: () => undefined }

type Serve = (seen: (body: unknown) => void) => Promise<string>

const serveFastify: Serve = async (seen) => {
  const app = fastify({ http2: true })
  onTestFinished(() => app.close())
  app.addHook('preParsing', ofFastify.signedCalls(OPTIONS))
  app.all('/debit', async ({ body }) => {
    seen(body)
    return 'done'
  })
  return app.listen({ port: 0, host: '127.0.0.1' })
}

/** Serves the middleware alone, because Express itself needs a foreign bridge to HTTP/2. */
const serveExpress: Serve = async (seen) => {
  const guard = ofExpress.signedCalls(OPTIONS)
  const server: Http2Server = createServer((request, response) => {
    const asExpress = Object.assign(request, { originalUrl: request.url, protocol: 'http', body: undefined })
    const answer = {
      status: (code: number) => {
        response.statusCode = code
      },
      set: (headers: Readonly<Record<string, string>>) => {
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
      },
      end: (body = '') => response.end(body),
    }
    void guard(asExpress, answer as never, (error?: unknown) => {
      seen(asExpress.body)
      response.statusCode = error === undefined ? 200 : 500
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Sends a call without a content-length, which HTTP/2 does not need. */
async function sendByHttp2(url: string, { method, path, headers, body }: Request) {
  const session = connect(url)
  const endStream = body === ''
  const stream = session.request(
    { ':method': method, ':path': path, ...Object.fromEntries(headers) },
    { endStream },
  )
  if (!endStream) stream.end(body)
  const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  session.close()
  return { status: Number(answer[':status']), text }
}

for (const [name, serve] of [
  ['Fastify 5', serveFastify],
  ['Express', serveExpress],
] as const) {
  describe(`signedCalls of ${name} over HTTP/2`, () => {
    it('S19: A body that no header announces is read, and refused where it is not signed', async () => {
      const seen: unknown[] = []
      const url = await serve((body) => seen.push(body))
      const forged = { ...signedRequest(BASE, PATH, { body: '' }), body: '{"cents":900}' }
      const answer = await sendByHttp2(url, forged)
      expect(answer).toMatchObject({ status: 401, text: expect.stringContaining('BRANCH_SIGNATURE_INVALID') })
      expect(seen).toEqual([])
    })

    it('S19: A signed call runs, and so does one without a body', async () => {
      const seen: unknown[] = []
      const url = await serve((body) => seen.push(body))
      expect((await sendByHttp2(url, signedRequest(BASE, PATH))).status).toBe(200)
      const empty = signedRequest(BASE, PATH, { method: 'GET', contentType: undefined, body: '' })
      expect((await sendByHttp2(url, empty)).status).toBe(200)
      expect(seen).toEqual([{ cents: 100 }, undefined])
    })
  })
}
