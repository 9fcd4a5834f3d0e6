import express from 'express'
import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import * as ofExpress from '../../src/express.ts'
import * as ofFastify from '../../src/fastify.ts'
import type { SignedCallsOptions } from '../../src/signatures.ts'
import { answerTo, listening, opened, PUBLIC_KEY, QUERY, send, signedRequest } from './signed-request.ts'

const BASE = 'https://bank.example'
const PATH = `/debit?${QUERY}`

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve: () => resolve() }
}

async function serveFastify(options: SignedCallsOptions, served: () => void): Promise<string> {
  const app = fastify()
  app.addHook('preParsing', ofFastify.signedCalls(options))
  app.post('/debit', async () => served())
  await app.ready()
  return listening((request, response) => app.routing(request, response))
}

async function serveExpress(options: SignedCallsOptions, served: () => void): Promise<string> {
  const app = express()
  app.use(ofExpress.signedCalls(options))
  app.post('/debit', (_request, response) => {
    served()
    response.end()
  })
  return listening(app)
}

for (const [name, serve] of [
  ['Fastify 5', serveFastify],
  ['Express 5', serveExpress],
] as const) {
  describe(`signedCalls of ${name}, with the body held back`, () => {
    it('S20: A copy whose body comes when the copied call is forgotten is refused', async () => {
      let nowMs = Date.now()
      let servedCalls = 0
      const headChecked = signal()
      const copiedFromMs = nowMs + 299_000
      const now = () => {
        if (nowMs === copiedFromMs) headChecked.resolve()
        return nowMs
      }
      const url = await serve({ keys: [PUBLIC_KEY], baseUrl: BASE, callsRememberedMax: 9, now }, () => {
        servedCalls += 1
      })
      const first = signedRequest(BASE, PATH, { createdAtMs: nowMs })
      expect((await send(url, first)).status).toBe(200)
      nowMs = copiedFromMs
      const copy = opened(url, first)
      copy.flushHeaders()
      await headChecked.promise
      nowMs += 302_000
      // Whatever comes now, the first is ten minutes old and goes.
      expect((await send(url, signedRequest(BASE, PATH, { createdAtMs: nowMs }))).status).toBe(200)
      copy.end(first.body)
      const answer = await answerTo(copy)
      expect([answer.status, answer.code]).toEqual([401, 'BRANCH_SIGNATURE_EXPIRED'])
      expect(servedCalls).toBe(2)
    })

    it('S20: A call of a time to come is refused when its body arrives after the clock was set back', async () => {
      let nowMs = Date.now()
      const startedMs = nowMs
      const headChecked = signal()
      const now = () => {
        headChecked.resolve()
        return nowMs
      }
      const url = await serve({ keys: [PUBLIC_KEY], baseUrl: BASE, now }, () => undefined)
      const ahead = signedRequest(BASE, PATH, { createdAtMs: nowMs + 299_000 })
      const held = opened(url, ahead)
      held.flushHeaders()
      await headChecked.promise
      nowMs = startedMs - 10_000
      held.end(ahead.body)
      expect(await answerTo(held)).toMatchObject({ status: 401, code: 'BRANCH_SIGNATURE_EXPIRED' })
    })
  })
}
