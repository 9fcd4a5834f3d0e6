import { createOperator, type WatchOptions } from '@counterstep/sdk/operator'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { catchError } from '../catch-error.ts'

const view = (status: string, more: object = {}) => ({ gid: 'a', status, branches: [], ...more })
const json = (body: object, status = 200) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
const REFUSED = () => json({ code: 'SAGA_TOO_MANY_STREAMS', detail: 'x' }, 503)
const ABSENT = () => json({ code: 'SAGA_ROUTE_UNKNOWN', detail: 'x' }, 404)

/** A stream that the test writes. */
function openStream() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  return {
    response: new Response(readable, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } }),
    write: (text: string) => writer.write(new TextEncoder().encode(text)),
    end: () => writer.close(),
    /** Rejects when the reader has gone. */
    closed: writer.closed,
  }
}

/** A server whose looks and streams come from two lists; the last one repeats. */
function scriptedFetch(looks: readonly (() => Response)[], streams: readonly (() => Response)[]) {
  const seen: string[] = []
  const count = { looks: 0, streams: 0 }
  const fetch = (async (url: string, init: RequestInit) => {
    init.signal?.throwIfAborted()
    const kind = url.includes('/v1/live') ? 'streams' : 'looks'
    const list = kind === 'streams' ? streams : looks
    const at = Math.min(count[kind], list.length - 1)
    count[kind] += 1
    seen.push(new URL(url).pathname + new URL(url).search)
    return list[at]?.() ?? ABSENT()
  }) as typeof globalThis.fetch
  return { fetch, seen, count }
}

function watch(fetch: typeof globalThis.fetch, options: WatchOptions = {}) {
  const operator = createOperator({ url: 'http://server', fetch, retryForMs: 0 })
  return operator.watch('a', options)[Symbol.asyncIterator]()
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

describe('watch', () => {
  it('Where there is no stream, the transaction is looked at each 2 s, and shown when it has changed', async () => {
    const { fetch, seen, count } = scriptedFetch(
      [
        () => json(view('submitted')),
        () => json(view('submitted')),
        () => json(view('submitted', { updatedAt: 2 })),
        () => json(view('succeeded')),
      ],
      [ABSENT],
    )
    const views = watch(fetch)
    expect((await views.next()).value).toMatchObject({ status: 'submitted' })
    const second = views.next()
    await vi.advanceTimersByTimeAsync(1_999)
    expect(count.looks).toBe(1)
    await vi.advanceTimersByTimeAsync(2_001)
    expect((await second).value).toMatchObject({ updatedAt: 2 })
    const third = views.next()
    await vi.advanceTimersByTimeAsync(2_000)
    expect((await third).value).toMatchObject({ status: 'succeeded' })
    expect(await views.next()).toEqual({ done: true, value: undefined })
    // A server without a stream is asked for one once.
    expect(seen.filter((path) => path.startsWith('/v1/live'))).toEqual(['/v1/live?gid=a'])
  })

  it('A stream shows each change at once, until the end, and its connection is closed', async () => {
    const stream = openStream()
    const { fetch, count } = scriptedFetch([() => json(view('submitted'))], [() => stream.response])
    const views = watch(fetch)
    await views.next()
    const second = views.next()
    await stream.write(
      `: hello\n\nevent: view\ndata: ${JSON.stringify(view('submitted'))}\n\nevent: overview\ndata: {}\n\n`,
    )
    await stream.write(`event: view\r\ndata: ${JSON.stringify(view('aborting')).slice(0, 9)}`)
    await stream.write(`${JSON.stringify(view('aborting')).slice(9)}\r\n\r\n`)
    expect((await second).value).toMatchObject({ status: 'aborting' })
    const third = views.next()
    await stream.write(`event: view\ndata: ${JSON.stringify(view('failed'))}\n\n`)
    expect((await third).value).toMatchObject({ status: 'failed' })
    expect(await views.next()).toMatchObject({ done: true })
    await expect(stream.closed).rejects.toBeUndefined()
    expect(count).toEqual({ looks: 1, streams: 1 })
  })

  it('A stream that ends or falls silent is opened again, after a look at what was missed', async () => {
    const streams = [openStream(), openStream()]
    const { fetch, count } = scriptedFetch(
      [() => json(view('submitted')), () => json(view('aborting')), () => json(view('failed'))],
      streams.map(
        ({ response }) =>
          () =>
            response,
      ),
    )
    const views = watch(fetch)
    await views.next()
    const second = views.next()
    await streams[0]?.end()
    await vi.advanceTimersByTimeAsync(2_000)
    expect((await second).value).toMatchObject({ status: 'aborting' })
    const third = views.next()
    await vi.advanceTimersByTimeAsync(30_000)
    await streams[1]?.write(': still here\n\n')
    await vi.advanceTimersByTimeAsync(44_000)
    expect(count).toEqual({ looks: 2, streams: 2 })
    await vi.advanceTimersByTimeAsync(1_000 + 2_000)
    expect((await third).value).toMatchObject({ status: 'failed' })
  })

  it('A server whose streams are all in use is looked at, and asked for a stream again after 30 s', async () => {
    const stream = openStream()
    const { fetch, count } = scriptedFetch([() => json(view('submitted'))], [REFUSED, () => stream.response])
    const views = watch(fetch)
    await views.next()
    const second = views.next()
    await vi.advanceTimersByTimeAsync(29_000)
    expect(count).toEqual({ looks: 15, streams: 1 })
    await vi.advanceTimersByTimeAsync(2_000)
    expect(count).toEqual({ looks: 16, streams: 2 })
    await stream.write(`event: view\ndata: ${JSON.stringify(view('failed'))}\n\n`)
    expect((await second).value).toMatchObject({ status: 'failed' })
  })

  it('A stream with what is no view is given up, and the transaction looked at', async () => {
    for (const data of ['{"gid":', '{"status":"failed"}']) {
      const stream = openStream()
      const { fetch } = scriptedFetch(
        [() => json(view('submitted')), () => json(view('failed'))],
        [() => stream.response],
      )
      const views = watch(fetch)
      await views.next()
      const second = views.next()
      await stream.write(`event: view\ndata: ${data}\n\n`)
      await vi.advanceTimersByTimeAsync(2_000)
      expect((await second).value).toMatchObject({ status: 'failed' })
    }
  })

  it('The signal ends the watch with its reason, while it waits and while it reads a stream', async () => {
    for (const streams of [[ABSENT], [() => openStream().response]]) {
      const stopping = new AbortController()
      const views = watch(scriptedFetch([() => json(view('submitted'))], streams).fetch, {
        signal: stopping.signal,
      })
      await views.next()
      const second = catchError(views.next())
      await vi.advanceTimersByTimeAsync(100)
      stopping.abort(new Error('enough'))
      expect(await second).toMatchObject({ message: 'enough' })
    }
  })

  it('A gid that does not exist, and a server that does not answer, end the watch', async () => {
    const unknown = json({ code: 'SAGA_UNKNOWN_GID', detail: 'x' }, 404)
    const first = watch(scriptedFetch([() => unknown], [ABSENT]).fetch).next()
    expect(await catchError(first)).toMatchObject({ code: 'SAGA_UNKNOWN_GID' })
    const away = () => {
      throw new TypeError('fetch failed')
    }
    expect(await catchError(watch(scriptedFetch([away], [away]).fetch).next())).toMatchObject({
      code: 'SAGA_UNREACHABLE',
    })
  })
})
