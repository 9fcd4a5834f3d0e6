import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { createClient, saga } from '@counterstep/sdk'
import { describe, expect, it } from 'vitest'
import { scriptedServer } from '../scripted-server.ts'

const view = {
  gid: 'g',
  kind: 'saga',
  status: 'succeeded',
  createdAt: 1,
  updatedAt: 1,
  epoch: 1,
  branches: [],
}
const transfer = saga({ gid: 'g' }).branch('debit', { action: 'http://bank/debit' })

/** Starts a server whose connections a test can count and cut. */
async function serve(listener: RequestListener) {
  const sockets: Socket[] = []
  const server = createServer(listener)
  server.on('connection', (socket) => sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const catchError = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe("the client over Node's HTTP client", () => {
  it('Calls one after the other use one connection, even those of another client', async () => {
    await using server = await serve((_, response) => response.end(JSON.stringify(view)))
    const clients = [createClient({ url: server.url }), createClient({ url: server.url })]
    for (let call = 0; call < 6; call++) await clients[call % 2]?.get('g')
    expect(server.sockets).toHaveLength(1)
  })

  it('A call on a kept connection that the server had just closed is sent again by the same gid', async () => {
    const gids: string[] = []
    await using server = await serve(async (request, response) => {
      const { gid } = JSON.parse(await text(request))
      gids.push(gid)
      if (gids.length === 2) request.socket.resetAndDestroy()
      else response.end(JSON.stringify({ ...view, gid }))
    })
    const client = createClient({ url: server.url })
    await client.submit({ branches: [{ action: 'http://bank/debit' }] })
    await client.submit({ branches: [{ action: 'http://bank/debit' }] })
    expect([gids[1] === gids[2], gids.length, server.sockets.length]).toEqual([true, 3, 2])
  })

  it('The process ends though a connection is kept', async () => {
    await using server = await serve((_, response) => response.end(JSON.stringify(view)))
    const sdk = JSON.stringify(new URL('../../src/index.ts', import.meta.url).href)
    const script = `
      const { createClient } = await import(${sdk})
      await createClient({ url: process.argv[1] }).get('g')
      console.log('answered')`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script, server.url])
    const ended = once(child, 'close')
    const [socket] = await Promise.race([
      once(child.stdout, 'data').then(() => server.sockets),
      ended.then(() => []),
    ])
    let isClosed = false
    socket?.once('close', () => {
      isClosed = true
    })
    // The process closes it, and not a timer: neither side knows of another end before 4 s.
    const startedAt = performance.now()
    expect((await ended)[0]).toBe(0)
    expect(socket).toBeDefined()
    await expect.poll(() => isClosed).toBe(true)
    expect(performance.now() - startedAt).toBeLessThan(3_500)
  })

  for (const [when, answer] of [
    ['before its head', () => undefined],
    ['within its body', (response) => response.writeHead(200).write('{"gid":')],
  ] as [string, (response: Parameters<RequestListener>[1]) => unknown][]) {
    it(`An answer that stops ${when} is unavailable when the time is over, and its connection is closed`, async () => {
      await using server = await serve((_, response) => void answer(response))
      const client = createClient({ url: server.url, timeoutMs: 80, retryForMs: 0 })
      const error = await catchError(client.submit(transfer))
      expect(error).toMatchObject({ code: 'SAGA_UNREACHABLE', gid: 'g', cause: { name: 'TimeoutError' } })
      await expect.poll(() => server.sockets[0]?.destroyed).toBe(true)
    })

    it(`A call whose answer stops ${when} ends with the reason of its signal, and closes the connection`, async () => {
      const controller = new AbortController()
      const reason = new Error('enough')
      await using server = await serve((_, response) => {
        answer(response)
        setImmediate(() => controller.abort(reason))
      })
      const error = await catchError(
        createClient({ url: server.url }).get('g', { signal: controller.signal }),
      )
      expect(error).toBe(reason)
      await expect.poll(() => server.sockets[0]?.destroyed).toBe(true)
    })
  }

  it('An answer that breaks off is unavailable', async () => {
    await using server = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write(JSON.stringify(view), () => response.socket?.destroy())
    })
    const error = await catchError(createClient({ url: server.url, retryForMs: 0 }).get('g'))
    expect(error).toMatchObject({ code: 'SAGA_UNREACHABLE', cause: { code: 'ECONNRESET' } })
  })

  it('An answer in another protocol than was asked for is unavailable', async () => {
    await using server = await serve((_, response) => {
      response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
    })
    const error = await catchError(createClient({ url: server.url, retryForMs: 0 }).get('g'))
    expect(error).toMatchObject({ code: 'SAGA_UNREACHABLE' })
  })

  it('No redirect is followed', async () => {
    await using elsewhere = await scriptedServer([{ status: 200, body: view }])
    await using server = await scriptedServer([{ status: 307, headers: { location: elsewhere.url } }])
    const error = await catchError(createClient({ url: server.url }).submit(transfer))
    expect([error, elsewhere.seen]).toMatchObject([{ code: 'SAGA_UNREACHABLE', status: 307 }, []])
  })

  it('A body of any characters is sent whole, and such an answer is read', async () => {
    const payload = { name: 'Zürich \u{1F600}' }
    await using server = await serve(async (request, response) => {
      const { branches } = JSON.parse(await text(request))
      const bytes = Buffer.from(JSON.stringify({ ...view, seen: branches[0].payload }))
      for (const byte of bytes) response.write(Buffer.of(byte))
      response.end()
    })
    const seen = await createClient({ url: server.url }).submit({
      gid: 'g',
      branches: [{ action: 'http://bank/debit', payload }],
    })
    expect(seen).toMatchObject({ seen: payload })
  })

  it('A call may wait longer than an idle connection is kept', async () => {
    const idleMs = 4_000
    await using server = await serve((request, response) => {
      setTimeout(
        () => response.end(JSON.stringify(view)),
        request.headers.prefer === undefined ? 0 : idleMs + 300,
      )
    })
    const client = createClient({ url: server.url, retryForMs: 0 })
    await client.submit(transfer)
    expect((await client.submit(transfer, { waitMs: 10_000 })).status).toBe('succeeded')
    expect(server.sockets).toHaveLength(1)
  })

  it('A client speaks TLS to an https URL, and its error names an origin that does not', async () => {
    await using server = await scriptedServer([{ status: 200, body: view }])
    const url = server.url.replace('http:', 'https:')
    const error = await catchError(createClient({ url, retryForMs: 0 }).get('g'))
    expect(error).toMatchObject({ message: `no answer from ${url}`, cause: { code: 'EPROTO' } })
  })

  it('A client reaches an IPv6 address', async () => {
    const server = createServer((request, response) =>
      response.end(JSON.stringify({ ...view, host: request.headers.host })),
    )
    server.listen(0, '::1')
    await once(server, 'listening')
    const host = `[::1]:${(server.address() as AddressInfo).port}`
    expect(await createClient({ url: `http://${host}` }).get('g')).toMatchObject({ host })
    server.closeAllConnections()
    server.close()
  })
})
