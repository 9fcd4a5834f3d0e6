import { IncomingMessage } from 'node:http'
import { createClient, saga } from '@counterstep/sdk'
import { expect, it } from 'vitest'
import { SUCCESS, serve } from '../served-server.ts'

const transfer = saga().branch('debit', {
  action: 'http://127.0.0.1:9/debit',
  compensation: 'http://127.0.0.1:9/undo',
})

for (const [title, options] of [
  ["Node's client", {}],
  ['fetch', { fetch: globalThis.fetch }],
] as const) {
  it(`sends submits over ${title} as the server reads them for the least`, async () => {
    await using served = await serve(async () => SUCCESS)
    const readers: string[] = []
    served.server.on('request', (request) => {
      readers.push(request instanceof IncomingMessage ? 'node' : 'hot')
    })
    const client = createClient({ url: served.url, ...options })
    for (let i = 0; i < 3; i++) {
      expect((await client.submit(transfer, { waitMs: 5_000 })).status).toBe('succeeded')
    }
    expect(readers).toEqual(['hot', 'hot', 'hot'])
  })
}
