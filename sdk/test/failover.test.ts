import { createClient, isUnavailable, saga } from '@counterstep/sdk'
import { memoryStore } from '@counterstep/store-conformance'
import { describe, expect, it } from 'vitest'
import { closedUrl } from './closed-url.ts'
import { type Reply, scriptedServer } from './scripted-server.ts'
import { SUCCESS, serve } from './served-server.ts'

const view = {
  gid: 'g',
  kind: 'saga',
  status: 'succeeded',
  createdAt: 1,
  updatedAt: 1,
  epoch: 1,
  branches: [],
}
const found: Reply = { status: 200, body: view }
const busy: Reply = {
  status: 503,
  headers: { 'retry-after': '3600' },
  body: { type: 'x', title: 'x', status: 503, detail: 'why', code: 'SAGA_OVER_CAPACITY' },
}
const to = (name: string) => ({ action: `http://service/${name}` })

describe('a client of several servers of one store', () => {
  it('A client goes on to the next server when one is stopped, for every kind of call', async () => {
    const store = memoryStore()
    await using second = await serve(() => SUCCESS, store)
    const calls: string[] = []
    const seenBySecond = () => second.calls.length
    let client = second.client
    {
      await using first = await serve(({ gid }) => {
        calls.push(gid)
        return SUCCESS
      }, store)
      client = createClient({ url: [first.url, second.url] })
      await client.submit(saga({ gid: 'one' }).branch('a', to('a')), { waitMs: 10_000 })
      expect(calls).toEqual(['one'])
      expect(seenBySecond()).toBe(0)
    }
    const two = await client.submit(saga({ gid: 'two' }).branch('a', to('a')), { waitMs: 10_000 })
    expect(two.status).toBe('succeeded')
    expect(seenBySecond()).toBe(1)
    expect((await client.get('one')).status).toBe('succeeded')
    expect((await client.wait('one')).status).toBe('succeeded')
    const gids: string[] = []
    for await (const { gid } of client.list()) gids.push(gid)
    expect(gids.sort()).toEqual(['one', 'two'])
    await store.close()
  })

  it('A submit whose server was stopped before it answered is repeated, and the saga runs once', async () => {
    const store = memoryStore()
    const actions: string[] = []
    await using second = await serve(() => SUCCESS, store)
    const first = await serve(async ({ op, gid }) => {
      actions.push(`${gid} ${op}`)
      // Its callers are cut off while the branch is under way.
      first.server.closeAllConnections()
      first.server.close()
      return SUCCESS
    }, store)
    const client = createClient({ url: [first.url, second.url] })
    const accepted = await client.submit(saga({ gid: 'cut' }).branch('a', to('a')), { waitMs: 10_000 })
    expect(accepted.gid).toBe('cut')
    expect((await client.wait('cut')).status).toBe('succeeded')
    expect(actions).toEqual(['cut action'])
    expect(second.calls).toEqual([])
    await first[Symbol.asyncDispose]()
    await store.close()
  })

  for (const over of ['Node', 'fetch'] as const) {
    const own = over === 'fetch' ? { fetch: globalThis.fetch } : {}

    it(`A client asks each server before it waits, and stays with the one that answered, over ${over}`, async () => {
      await using cut = await scriptedServer(['cut'])
      await using full = await scriptedServer([busy])
      await using good = await scriptedServer([found])
      // A wait of the Retry-After, or of the back-off, would be longer than this.
      const client = createClient({ url: [await closedUrl(), cut.url, full.url, good.url], ...own })
      for (let call = 0; call < 3; call += 1) expect((await client.get('g')).gid).toBe('g')
      expect([cut.seen.length, full.seen.length, good.seen.length]).toEqual([1, 1, 3])
    })
  }

  it('A client begins with the first server again after the last, within retryForMs', async () => {
    await using first = await scriptedServer(['cut', found])
    await using second = await scriptedServer(['cut'])
    const client = createClient({ url: [first.url, second.url] })
    expect((await client.get('g')).gid).toBe('g')
    expect([first.seen.length, second.seen.length]).toEqual([2, 1])
  })

  it('A client with retryForMs 0 tries once, and its next call goes to the next server', async () => {
    await using cut = await scriptedServer(['cut'])
    await using good = await scriptedServer([found])
    const client = createClient({ url: [cut.url, good.url], retryForMs: 0 })
    const error = await client.get('g').catch((each: unknown) => each)
    expect(isUnavailable(error) && error.message).toBe(`no answer from ${cut.url}`)
    expect((await client.get('g')).gid).toBe('g')
  })

  it('A client moves on once when many calls fail together', async () => {
    await using cut = await scriptedServer(['cut'])
    await using good = await scriptedServer([found])
    const client = createClient({ url: [cut.url, good.url] })
    await Promise.all(Array.from({ length: 10 }, () => client.get('g')))
    expect([cut.seen.length, good.seen.length]).toEqual([10, 10])
  })

  for (const status of [404, 409, 429, 500]) {
    it(`A client stays with a server that answers ${status}`, async () => {
      const body = { type: 'x', title: 'x', status, detail: 'why', code: 'SAGA_ANY' }
      await using first = await scriptedServer([{ status, body }])
      await using second = await scriptedServer([found])
      const client = createClient({ url: [first.url, second.url], retryForMs: 0 })
      for (let call = 0; call < 2; call += 1) await client.get('g').catch((error: unknown) => error)
      expect([first.seen.length, second.seen.length]).toEqual([2, 0])
    })
  }

  it('A client is not made without a URL, nor where one of several URLs is wrong', () => {
    expect(() => createClient({ url: [] })).toThrow(new TypeError('url must name at least one server'))
    const good = 'http://127.0.0.1:8470'
    expect(() => createClient({ url: [good, 'ftp://a'] })).toThrow(new TypeError('url must be http or https'))
    expect(() => createClient({ url: [good, 'http://me:secret@a'] })).toThrow(TypeError)
  })
})
