import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { createClient, saga } from '../src/index.ts'
import { scriptedServer } from './scripted-server.ts'

const KEY = 'cs_aaaaaaaaaaaa_canary-3141592'
const VIEW = {
  gid: 'a',
  kind: 'saga',
  status: 'submitted',
  createdAt: 1,
  updatedAt: 1,
  epoch: 1,
  branches: [],
}
const FINE = { status: 200, body: VIEW }
const transfer = saga({ gid: 'a' }).branch('debit', { action: 'http://127.0.0.1:1/debit' })

function refusal(status: number, code: string) {
  return {
    status,
    body: { type: `urn:x:${code}`, title: 'x', status, detail: 'why', code },
    headers: { 'retry-after': '0' },
  }
}

for (const [transport, fetch] of [
  ["Node's client", undefined],
  ['fetch', globalThis.fetch],
] as const) {
  it(`S11: The API key goes out with every request as Bearer, over ${transport}`, async () => {
    await using server = await scriptedServer([FINE])
    const client = createClient({ url: server.url, apiKey: KEY, ...(fetch === undefined ? {} : { fetch }) })
    await client.submit(transfer)
    await client.get('a')
    await client.abort('a')
    const sent = server.seen.map(({ headers }) => headers.authorization)
    expect(sent).toEqual([`Bearer ${KEY}`, `Bearer ${KEY}`, `Bearer ${KEY}`])
  })
}

it('S11: A function is asked for the key before each attempt', async () => {
  await using server = await scriptedServer([refusal(429, 'SAGA_RATE_LIMITED'), FINE])
  const keys = ['old', 'new']
  const client = createClient({ url: server.url, apiKey: async () => keys.shift() ?? 'none left' })
  await client.submit(transfer)
  expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new'])
})

it('S11: The key is in no error, whatever went wrong, and not in what a client shows of itself', async () => {
  await using server = await scriptedServer([
    refusal(401, 'SAGA_UNAUTHENTICATED'),
    refusal(403, 'SAGA_FORBIDDEN'),
    { status: 502, body: 'a proxy' },
    'cut',
  ])
  const client = createClient({ url: server.url, apiKey: KEY, retryForMs: 0 })
  const errors: unknown[] = []
  for (let count = 0; count < 4; count += 1)
    await client.get('a').catch((error: unknown) => errors.push(error))
  expect(errors).toMatchObject([
    { code: 'SAGA_UNAUTHENTICATED', meaning: 'failure' },
    { code: 'SAGA_FORBIDDEN', meaning: 'failure' },
    { code: 'SAGA_UNREACHABLE' },
    { code: 'SAGA_UNREACHABLE' },
  ])
  const shown = inspect([errors, client], { depth: 10, showHidden: true })
  expect(shown).not.toContain('canary')
})

for (const [what, bad] of [
  ['a line break', 'key\n'],
  ['a blank', 'my key'],
  ['nothing', ''],
  ['a letter that no header takes', 'kéy'],
] as const) {
  it(`S11: A key with ${what} is refused without being shown`, async () => {
    const asText = () =>
      createClient({ url: 'http://127.0.0.1:1', apiKey: `${bad}${bad === '' ? '' : 'canary'}` })
    expect(asText).toThrow(/^apiKey must be/)
    const client = createClient({ url: 'http://127.0.0.1:1', apiKey: () => bad })
    await expect(client.get('a')).rejects.toThrow(/^apiKey must be/)
  })
}

it('S11: An API key and an authorization header of the caller exclude each other', () => {
  const headers = { Authorization: 'Basic x' }
  expect(() => createClient({ url: 'http://127.0.0.1:1', apiKey: KEY, headers })).toThrow(
    /exclude each other/,
  )
})

it('S11: The key does not follow a redirect to another server', async () => {
  await using elsewhere = await scriptedServer([FINE])
  await using server = await scriptedServer([{ status: 307, headers: { location: elsewhere.url } }])
  const client = createClient({ url: server.url, apiKey: KEY, retryForMs: 0 })
  await expect(client.get('a')).rejects.toMatchObject({ code: 'SAGA_UNREACHABLE' })
  expect(elsewhere.seen).toEqual([])
})
