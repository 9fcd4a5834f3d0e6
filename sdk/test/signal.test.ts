import { createClient, isRefused, isUnavailable, signal } from '@counterstep/sdk'
import { describe, expect, it } from 'vitest'
import { catchError } from './catch-error.ts'
import { problem, type Reply, scriptedServer } from './scripted-server.ts'

const approval = signal<{ by: string }>('approval')
const taken: Reply = { status: 200, body: { gid: 'g', name: 'approval', id: 'click-8', state: 'taken' } }

describe('client.signal', () => {
  it('A signal is posted with its id and payload, and the answer says what became of it', async () => {
    const view = { gid: 'g/1', name: 'approval', id: 'click-8', state: 'taken' }
    await using server = await scriptedServer([{ status: 200, body: view }])
    const client = createClient({ url: server.url, apiKey: 'key-of-the-page' })
    expect(await client.signal('g/1', approval, { by: 'kim' }, { id: 'click-8' })).toEqual(view)
    const [request] = server.seen
    expect(request).toMatchObject({ method: 'POST', url: '/v1/transactions/g%2F1/signals/approval' })
    expect(request?.headers.authorization).toBe('Bearer key-of-the-page')
    expect(JSON.parse(request?.body ?? '')).toEqual({ id: 'click-8', payload: { by: 'kim' } })
  })

  it('A signal may be named by a text, and have no payload', async () => {
    await using server = await scriptedServer([taken])
    const client = createClient({ url: server.url })
    await client.signal('g', 'picked:up')
    await client.signal('g', signal('picked-up'), undefined, { id: 'a' })
    const calls = server.seen.map(({ url, body }) => [url, Object.keys(JSON.parse(body))])
    expect(calls).toEqual([
      ['/v1/transactions/g/signals/picked%3Aup', ['id']],
      ['/v1/transactions/g/signals/picked-up', ['id']],
    ])
  })

  it('All attempts of one call have the same id, and each call another one', async () => {
    await using server = await scriptedServer(['cut', problem(503, 'SAGA_OVER_CAPACITY'), taken])
    const client = createClient({ url: server.url })
    await client.signal('g', approval, { by: 'kim' })
    expect(server.seen).toHaveLength(3)
    await client.signal('g', approval, { by: 'kim' })
    const ids = server.seen.map(({ body }) => JSON.parse(body).id as string)
    expect(new Set(ids.slice(0, 3)).size).toBe(1)
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/)
    expect(ids[3]).not.toBe(ids[0])
  })

  it('A signal that is refused is not sent again', async () => {
    await using server = await scriptedServer([problem(404, 'SAGA_SIGNAL_UNKNOWN')])
    const error = await catchError(createClient({ url: server.url }).signal('g', approval, { by: 'kim' }))
    expect(isRefused(error) && error.code).toBe('SAGA_SIGNAL_UNKNOWN')
    expect(isRefused(error) && error.gid).toBe('g')
    expect(server.seen).toHaveLength(1)
  })

  it('An answer that no signal has leaves the outcome open', async () => {
    await using server = await scriptedServer([{ status: 200, body: { hello: 'world' } }])
    const client = createClient({ url: server.url, retryForMs: 0 })
    const error = await catchError(client.signal('g', approval, { by: 'kim' }))
    expect(isUnavailable(error) && error.code).toBe('SAGA_UNREACHABLE')
  })

  it('The compiler knows the payload of a signal', () => {
    const client = createClient({ url: 'http://127.0.0.1:1' })
    const misuses = [
      // @ts-expect-error The approval says by whom.
      () => client.signal('g', approval),
      // @ts-expect-error The name is a text.
      () => client.signal('g', approval, { by: 7 }),
      // @ts-expect-error This signal carries nothing.
      () => client.signal('g', signal('picked-up'), { by: 'kim' }),
      // @ts-expect-error JSON has no functions.
      () => client.signal('g', 'approval', () => 1),
    ]
    expect(misuses).toHaveLength(4)
  })
})
