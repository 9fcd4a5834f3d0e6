import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildCall, serveHttp } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

interface TracedRequest {
  readonly method: string
  readonly path: string
  addHeader(name: string, value: string): void
}

/** Does as tracing tools do: it adds a header of the span that is active when undici makes a request. */
function traceBy(spans: AsyncLocalStorage<string>): string[] {
  const traced: string[] = []
  const onCreate = (message: unknown): void => {
    const { request } = message as { readonly request: TracedRequest }
    traced.push(`${request.method} ${request.path.split('?')[0]}`)
    const span = spans.getStore()
    if (span !== undefined) request.addHeader('traceparent', span)
  }
  subscribe('undici:request:create', onCreate)
  onTestFinished(() => {
    unsubscribe('undici:request:create', onCreate)
  })
  return traced
}

describe('a call as a tracing tool sees it', () => {
  it('A call is a request of undici, and carries the span in which it was made, though it waited', async () => {
    const seen: unknown[] = []
    const server = await serveHttp((request, response) => {
      seen.push(request.headers.traceparent)
      response.end()
    })
    const spans = new AsyncLocalStorage<string>()
    const traced = traceBy(spans)
    const caller = testCaller({ connectionsPerOriginMax: 1 })
    const names = ['span-1', 'span-2', 'span-3']
    const answers = await Promise.all(
      names.map((name) => spans.run(name, () => caller.call(buildCall(`${server.url}/debit`)))),
    )
    expect(answers.map(({ result }) => result)).toEqual(['success', 'success', 'success'])
    expect([seen, traced]).toEqual([names, Array(3).fill('POST /debit')])
  })

  it("A call that ends at its deadline ends in undici's events with an error that says so", async () => {
    const errors: string[] = []
    const onError = (message: unknown): void => {
      errors.push((message as { readonly error: Error }).error.message)
    }
    subscribe('undici:request:error', onError)
    onTestFinished(() => {
      unsubscribe('undici:request:error', onError)
    })
    const server = await serveHttp(() => undefined)
    const answer = await testCaller().call(buildCall(server.url, { timeoutMs: 500 }))
    expect([answer.error, errors]).toEqual(['timeout', ['the call ended: timeout']])
  })
})
