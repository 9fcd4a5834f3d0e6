import { createClient } from '@counterstep/sdk'
import { afterAll, expect, it, vi } from 'vitest'
import { scriptedServer } from '../scripted-server.ts'

// The client reads this to find out whether it runs on Node. All its tests run once more, over `fetch`.
vi.stubGlobal('navigator', { userAgent: 'another platform' })
afterAll(() => vi.unstubAllGlobals())

it('The client sends over fetch where it does not run on Node', async () => {
  await using server = await scriptedServer([{ status: 200, body: { items: [] } }])
  await createClient({ url: server.url }).page()
  expect(server.seen[0]?.headers['sec-fetch-mode']).toBe('cors')
})

await import('../client.test.ts')
