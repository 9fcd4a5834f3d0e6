import { once } from 'node:events'
import { connect } from 'node:net'
import fastify, { type preParsingAsyncHookHandler } from 'fastify'
import { describe, expect, it } from 'vitest'
import { signedCalls } from '../../src/fastify.ts'
import { listening, PUBLIC_KEY, QUERY, send, signedRequest } from './signed-request.ts'

const BASE = 'https://bank.example'
const PATH = `/debit?${QUERY}`

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve: () => resolve() }
}

/** Serves an app that looks up something else before each answer goes out, and notes what its handlers served. */
async function serve(guard: preParsingAsyncHookHandler) {
  const served: string[] = []
  const [answering, lookedUp, hungUp] = [signal(), signal(), signal()]
  const app = fastify()
  app.addHook('preParsing', guard)
  app.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode !== 401) return
    reply.raw.once('close', () => hungUp.resolve())
    answering.resolve()
    await lookedUp.promise
  })
  app.route({
    method: ['GET', 'POST'],
    url: '/debit',
    handler: async ({ method }) => {
      served.push(method)
    },
  })
  await app.ready()
  const url = await listening((request, response) => app.routing(request, response))
  return { url, served, answering: answering.promise, hungUp: hungUp.promise, lookUp: lookedUp.resolve }
}

/** Sends a call without a signature and without a body, and is gone before its answer. Then a good call comes. */
async function servedAfter(method: string, guard: preParsingAsyncHookHandler): Promise<readonly string[]> {
  const { url, served, answering, hungUp, lookUp } = await serve(guard)
  const { hostname, port } = new URL(url)
  const caller = connect(Number(port), hostname)
  caller.write(`${method} ${PATH} HTTP/1.1\r\nhost: bank.example\r\n\r\n`)
  await answering
  caller.resetAndDestroy()
  await once(caller, 'close')
  await hungUp
  // This answer takes a turn of the network, so whatever the hang-up has set off has happened by then.
  expect((await send(url, signedRequest(BASE, PATH))).status).toBe(200)
  lookUp()
  return served
}

describe('signedCalls of Fastify 5, where an onSend hook waits and the caller hangs up', () => {
  const guard = signedCalls({ keys: [PUBLIC_KEY], baseUrl: BASE, onRefused: () => undefined })

  it.each(['GET', 'POST'])('S19: A %s that is refused does not run', async (method) => {
    expect(await servedAfter(method, guard as preParsingAsyncHookHandler)).toEqual(['POST'])
  })

  it.each(['GET', 'POST'])('S19: Mutant: a guard that returns its answer lets a %s run', async (method) => {
    const returning: preParsingAsyncHookHandler = async ({ headers }, reply, payload) =>
      headers.signature === undefined ? reply.code(401).send('') : payload
    expect(await servedAfter(method, returning)).toEqual([method, 'POST'])
  })
})
