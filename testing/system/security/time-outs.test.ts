import { memoryStore } from '@counterstep/store-conformance'
import { expect, it } from 'vitest'
import { openBothApis } from './both-apis.ts'

/** Node itself sets no bound for most of these. */
const BOUNDS = {
  requestTimeout: 15_000,
  headersTimeout: 15_000,
  timeout: 75_000,
  keepAliveTimeout: 72_000,
  maxRequestsPerSocket: 100_000,
} as const

it('S32: Both HTTP APIs bound the time to send a request, an idle connection, and the requests of one connection', async () => {
  await using apis = await openBothApis(memoryStore())
  for (const { server, initialConfig } of [apis.native, apis.dtm]) {
    expect(server).toMatchObject(BOUNDS)
    expect(initialConfig.bodyLimit).toBe(1024 * 1024)
  }
})
