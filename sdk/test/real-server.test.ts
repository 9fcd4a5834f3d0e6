import { branch, createClient, isRefused, type ListFilter, parallel, saga } from '@counterstep/sdk'
import { describe, expect, it } from 'vitest'
import { serve } from './served-server.ts'

const to = (name: string) => ({
  action: `http://service/${name}`,
  compensation: `http://service/${name}/undo`,
})

describe('the client and a real server', () => {
  it('A saga is submitted, waited for, looked at and listed', async () => {
    await using server = await serve(() => ({ result: 'success', statusCode: 200 }))
    const travel = saga({ gid: 'trip/1 %'.replaceAll(' ', '+') })
      .add(parallel(branch('hotel', to('hotel')), branch('flight', to('flight'))))
      .branch('pay', { ...to('pay'), payload: { cents: 1250 } })
    const view = await server.client.submit(travel, { waitMs: 10_000 })
    expect(view).toMatchObject({ gid: travel.gid, status: 'succeeded', ack: 'durable' })
    expect(server.calls.at(-1)).toBe('pay action')
    expect((await server.client.wait(travel.gid)).status).toBe('succeeded')
    expect((await server.client.get(travel.gid)).branches.map(({ id }) => id)).toEqual([
      'hotel',
      'flight',
      'pay',
    ])
    for (let index = 0; index < 5; index += 1) {
      await server.client.submit(saga({ gid: `more-${index}` }).branch('a', to('a')), { waitMs: 5_000 })
    }
    const gids: string[] = []
    for await (const { gid } of server.client.list({ status: ['succeeded', 'failed'], limit: 2 }))
      gids.push(gid)
    expect(gids.sort()).toEqual([travel.gid, ...[0, 1, 2, 3, 4].map((index) => `more-${index}`)].sort())
  })

  it('Transactions of every kind are found by their name, their tags and the beginning of their gid', async () => {
    await using server = await serve(() => ({ result: 'success', statusCode: 200 }))
    const { client } = server
    const naming = (region: string) => ({ name: 'transfer', tags: { region, tier: '2' } })
    await client.submit(saga({ gid: 'a-1', ...naming('eu') }).branch('a', to('a')), { waitMs: 5_000 })
    await client
      .message({ gid: 'a-2', branches: [{ action: to('a').action }], ...naming('us') })
      .submit({ waitMs: 5_000 })
    await client.runTcc({ gid: 'b-3', ...naming('eu') }, async () => undefined)
    await client.submit(saga({ gid: 'a-none' }).branch('a', to('a')), { waitMs: 5_000 })
    const find = async (filter: ListFilter) => {
      const gids: string[] = []
      for await (const { gid } of client.list(filter)) gids.push(gid)
      return gids.sort()
    }
    expect(await find({ name: 'transfer' })).toEqual(['a-1', 'a-2', 'b-3'])
    expect(await find({ tags: { region: 'eu', tier: '2' } })).toEqual(['a-1', 'b-3'])
    expect(await find({ tags: { region: 'eu' }, gid: 'a-*' })).toEqual(['a-1'])
    expect(await find({ gid: 'a-none' })).toEqual(['a-none'])
    expect(await find({ gid: 'a-none', name: 'transfer' })).toEqual([])
    expect(await client.get('b-3')).toMatchObject({ kind: 'tcc', ...naming('eu') })
    expect(await client.get('a-none')).not.toHaveProperty('name')
  })

  it('A lost answer is made good by the same gid: the saga runs once', async () => {
    await using server = await serve(() => ({ result: 'success', statusCode: 200 }))
    let attempts = 0
    const losing: typeof fetch = async (...request) => {
      const response = await fetch(...request)
      attempts += 1
      if (attempts > 1) return response
      await response.arrayBuffer()
      throw new TypeError('terminated')
    }
    const client = createClient({ url: server.url, fetch: losing })
    const view = await client.submit({ branches: [to('a')] }, { waitMs: 5_000 })
    expect(view.status).toBe('succeeded')
    expect(attempts).toBe(2)
    expect(server.calls).toEqual(['01 action'])
  })

  it('The end of an abort can be waited for', async () => {
    await using server = await serve(({ op }) => ({ result: op === 'action' ? 'ongoing' : 'success' }))
    const stuck = saga().branch('a', to('a'))
    expect((await server.client.submit(stuck)).status).toBe('submitted')
    await server.client.abort(stuck.gid)
    expect(await server.client.wait(stuck.gid)).toMatchObject({
      status: 'failed',
      abort: { cause: 'requested' },
    })
    const tooLate = await server.client.abort(stuck.gid).catch((error: unknown) => error)
    expect(tooLate).toMatchObject({ code: 'SAGA_ALREADY_FINAL', status: 409 })
  })

  it('A refusal names the faults', async () => {
    await using server = await serve(() => ({ result: 'success' }))
    const error = await server.client
      .submit(saga().branch('a', { action: 'ftp://x' }))
      .catch((each: unknown) => each)
    expect(isRefused(error) && error.faults).toMatchObject([
      { code: 'SAGA_URL_INVALID', path: '/branches/0/action' },
    ])
    expect(isRefused(error) && error.message).toMatch(/^\/branches\/0\/action: ./)
  })
})
