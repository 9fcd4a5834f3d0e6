import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingHttpHeaders } from 'node:http'
import type { BranchCall } from '@counterstep/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildCall, serveHttp } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const parent = `00-${TRACE}-b7ad6b7169203331-01`

async function callTwice(overrides: Partial<BranchCall>): Promise<readonly IncomingHttpHeaders[]> {
  const seen: IncomingHttpHeaders[] = []
  const server = await serveHttp((request, response) => {
    seen.push(request.headers)
    response.end()
  })
  const caller = testCaller()
  await caller.call(buildCall(server.url, overrides))
  await caller.call(buildCall(server.url, { ...overrides, attempt: 2 }))
  return seen
}

describe('the trace that a call carries on', () => {
  it("Each attempt has the caller's trace and flags, and a span id of its own", async () => {
    const seen = await callTwice({ trace: { parent, state: 'vendor=1,other=2' } })
    const parents = seen.map(({ traceparent }) => String(traceparent))
    for (const each of parents) expect(each).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`))
    expect(new Set([...parents, parent]).size).toBe(3)
    expect(seen.map(({ tracestate }) => tracestate)).toEqual(['vendor=1,other=2', 'vendor=1,other=2'])
  })

  it('A transaction that came without a trace sends none', async () => {
    const [first] = await callTwice({})
    expect([first?.traceparent, first?.tracestate]).toEqual([undefined, undefined])
  })

  it('What the submit gave the branch stays alone', async () => {
    const own = '00-11111111111111111111111111111111-2222222222222222-00'
    const [first] = await callTwice({ trace: { parent, state: 'vendor=1' }, headers: { traceparent: own } })
    expect([first?.traceparent, first?.tracestate]).toEqual([own, undefined])
    const [second] = await callTwice({
      trace: { parent, state: 'vendor=1' },
      headers: { tracestate: 'own=1' },
    })
    expect([second?.traceparent?.slice(3, 35), second?.tracestate]).toEqual([TRACE, 'own=1'])
  })

  it('A tool that adds its own is left alone, since a service drops two of them', async () => {
    const onCreate = (message: unknown): void => {
      const { request } = message as { request: { addHeader(name: string, value: string): void } }
      request.addHeader('traceparent', parent)
    }
    subscribe('undici:request:create', onCreate)
    onTestFinished(() => void unsubscribe('undici:request:create', onCreate))
    const seen = await callTwice({ trace: { parent } })
    expect(seen.map(({ traceparent }) => traceparent)).toEqual([parent, parent])
  })
})
