import { createClient } from '@counterstep/sdk'
import { afterAll, expect, it, vi } from 'vitest'
import { scriptedServer } from '../scripted-server.ts'

vi.stubGlobal('navigator', undefined)
afterAll(() => vi.unstubAllGlobals())

it('The client uses the HTTP client of a Node that has no navigator, as Node 20', async () => {
  await using server = await scriptedServer([{ status: 200, body: { items: [] } }])
  await createClient({ url: server.url }).page()
  expect(server.seen).toHaveLength(1)
  expect(server.seen[0]?.headers).not.toHaveProperty('sec-fetch-mode')
})
