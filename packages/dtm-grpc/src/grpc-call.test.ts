import { once } from 'node:events'
import { type ClientHttp2Stream, connect, createServer, type IncomingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { GrpcCall, OK } from './grpc-call.ts'

const BOUNDS = { bytesMax: 100, messagesMax: 3 }
const HEAD = { ':method': 'POST', ':path': '/a.B/C', 'content-type': 'application/grpc' }

interface Pair {
  readonly call: GrpcCall
  readonly client: ClientHttp2Stream
  /** The client has closed its connection. */
  readonly close: () => void
}

/** Begins a call over a real connection. */
async function begin(headers: IncomingHttpHeaders = HEAD): Promise<Pair> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  session.on('error', () => undefined)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  const client = session.request(headers)
  client.on('error', () => undefined)
  const [stream, received] = await once(server, 'stream')
  return { call: new GrpcCall(stream, received), client, close: () => session.destroy() }
}

const message = (text: string) => Buffer.concat([Buffer.from([0, 0, 0, 0, text.length]), Buffer.from(text)])

describe('a call of gRPC', () => {
  it('Its messages are read, also byte by byte, and its answers come before its status', async () => {
    const { call, client } = await begin()
    for (const byte of message('ab')) client.write(Buffer.from([byte]))
    client.end(message('cd'))
    const texts: string[] = []
    for await (const each of call.receive(BOUNDS)) texts.push(each.toString())
    expect(texts).toEqual(['ab', 'cd'])
    call.send(Buffer.from('x'))
    call.send(Buffer.from('y'))
    call.end(OK)
    const chunks: Buffer[] = []
    client.on('data', (chunk: Buffer) => chunks.push(chunk))
    const [trailers] = await once(client, 'trailers')
    expect(Buffer.concat(chunks)).toEqual(Buffer.concat([message('x'), message('y')]))
    expect(trailers['grpc-status']).toBe('0')
  })

  it('A status without an answer is its head, with a text of any characters', async () => {
    const { call, client } = await begin()
    client.end()
    call.end({ code: 10, details: 'Geld fehlt: 5 €\n100 %' })
    const [headers] = await once(client, 'response')
    expect(headers).toMatchObject({ ':status': 200, 'grpc-status': '10' })
    expect(decodeURI(String(headers['grpc-message']))).toBe('Geld fehlt: 5 €\n100 %')
  })

  it('Only the first status is sent, and no answer after it', async () => {
    const { call, client } = await begin()
    client.end()
    call.end({ code: 10, details: '' })
    call.send(Buffer.from('x'))
    call.end(OK)
    call.refuse(415)
    const [headers] = await once(client, 'response')
    expect(headers['grpc-status']).toBe('10')
    expect(call.hasEnded).toBe(true)
  })

  it('A client that has not sent all gets the status and is stopped, with an answer before it or without', async () => {
    for (const hasAnswer of [true, false]) {
      const { call, client } = await begin()
      client.write(message('ab'))
      if (hasAnswer) call.send(Buffer.from('x'))
      const status = Promise.race([once(client, 'trailers'), once(client, 'response')])
      client.resume()
      const closed = once(client, 'close')
      call.end({ code: 8, details: 'no more' })
      const trailers = hasAnswer ? await once(client, 'trailers') : await status
      expect(trailers[0]['grpc-status']).toBe('8')
      await closed
    }
  })

  it('Answers that are not read wait, and are no more than a few', async () => {
    const { call, client } = await begin()
    const answer = Buffer.alloc(16_384)
    let sent = 1
    while (call.send(answer)) sent++
    expect(sent).toBeLessThan(16)
    const room = call.waitForRoom()
    client.resume()
    await room
    expect(call.hasEnded).toBe(false)
  })

  it('Waiting for room ends when the client goes', async () => {
    const { call, close } = await begin()
    while (call.send(Buffer.alloc(16_384)));
    const room = call.waitForRoom()
    close()
    await expect(room).rejects.toThrow('aborted')
    expect(call.hasEnded).toBe(true)
  })

  it('Messages do not end with a client that goes', async () => {
    const { call, client, close } = await begin()
    client.write(message('ab'))
    const received = call.receive(BOUNDS)
    expect((await received.next()).value?.toString()).toBe('ab')
    const closed = new Promise<void>((resolve) => call.onClosed(resolve))
    close()
    await expect(received.next()).rejects.toThrow()
    await closed
  })

  it.each([
    ['one that is too long', message('x'.repeat(101)), 8],
    ['one more than the bound', Buffer.alloc(20), 8],
    ['one that is not whole', message('abc').subarray(0, 7), 13],
  ])('Among its messages is %s', async (_what, sent, code) => {
    const { call, client } = await begin()
    client.end(sent)
    const receive = async () => {
      for await (const _ of call.receive(BOUNDS));
    }
    await expect(receive()).rejects.toMatchObject({ status: { code } })
  })

  it.each([
    [{}, '/a.B/C'],
    [{ 'content-type': 'application/grpc+proto' }, '/a.B/C'],
    [{ 'content-type': 'application/grpc; charset=utf-8' }, '/a.B/C'],
    [{ 'content-type': 'application/grpc-web' }, undefined],
    [{ 'content-type': undefined }, undefined],
    [{ ':method': 'PUT' }, undefined],
  ])('Its method is told by its head: %j', async (changed, path) => {
    const { call } = await begin({ ...HEAD, ...changed })
    expect(call.path).toBe(path)
  })

  it.each([
    [undefined, undefined],
    ['identity', undefined],
    ['gzip', 'gzip'],
    ['deflate', 'deflate'],
    ['br', null],
    ['toString', null],
  ])('Its messages may be packed by %s', async (name, packing) => {
    const { call } = await begin({ ...HEAD, ...(name === undefined ? {} : { 'grpc-encoding': name }) })
    expect(call.packing).toBe(packing)
  })
})
