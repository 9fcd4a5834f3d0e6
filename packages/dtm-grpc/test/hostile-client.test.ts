import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { connect as connectTcp, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey, KeyRing } from '@counterstep/access'
import { BODY_BYTES_MAX } from '@counterstep/protocol'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { OPEN_CALLS_MAX, UNTAKEN_MS } from '../src/connections.ts'
import { TAKE_MS_MAX } from '../src/grpc-call.ts'
import { WATCHERS_PER_ADDRESS_MAX, WATCHERS_PER_CONNECTION_MAX } from '../src/health.ts'
import { MessageReader } from '../src/message-reader.ts'
import { SMALL_MESSAGE_BYTES } from '../src/method-access.ts'
import { KEYED_BOUNDS } from '../src/receive-turns.ts'
import { MESSAGES_MAX } from '../src/reflection.ts'
import { CALLS_PER_SECOND_MAX } from '../src/strangers.ts'
import { DEFINITION, type GrpcFixture, openGrpcFixture } from './support/grpc-fixture.ts'
import { GrpcService } from './support/grpc-service.ts'
import { openCall, openSession, serializeSubmit, toMessage } from './support/raw-call.ts'

const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from('000000040000000000', 'hex'),
])
/** Its settings let the server send no data. */
const PREFACE_WITHOUT_WINDOW = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from('000006040000000000000400000000', 'hex'),
])
const HEALTH_PATH = '/grpc.health.v1.Health/Check'
const WATCH_PATH = '/grpc.health.v1.Health/Watch'
const REFLECTION_PATH = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
const DATA = 0
const HEADERS = 1
const RST_STREAM = 3
const PING = 6
const GOAWAY = 7
const CONTINUATION = 9

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

function field(name: string, value: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ])
}

function toHead(path: string, contentType = 'application/grpc'): Buffer {
  return Buffer.concat([
    field(':method', 'POST'),
    field(':scheme', 'http'),
    field(':path', path),
    field(':authority', '127.0.0.1'),
    field('content-type', contentType),
    field('te', 'trailers'),
  ])
}

const HEAD = toHead('/dtmgimp.Dtm/Submit')

function listResetCalls(count: number, head: Buffer): readonly Buffer[] {
  return Array.from({ length: count }, (_, n) =>
    Buffer.concat([
      frame(HEADERS, 4, 1 + 2 * n, head),
      frame(RST_STREAM, 0, 1 + 2 * n, Buffer.from([0, 0, 0, 8])),
    ]),
  )
}

async function openSocket({ address }: GrpcFixture): Promise<Socket> {
  const [host = '', port] = address.split(':')
  const socket = connectTcp({ host, port: Number(port) })
  socket.on('error', () => undefined)
  socket.resume()
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** Lists the codes with which the server resets calls of a raw connection. */
function listResets(socket: Socket): readonly number[] {
  const codes: number[] = []
  let bytes = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const end = 9 + bytes.readUIntBE(0, 3)
      if (bytes.readUInt8(3) === RST_STREAM) codes.push(bytes.readUInt32BE(9))
      bytes = bytes.subarray(end)
    }
  })
  return codes
}

/** The server may end a connection by a reset, too. */
function closes(session: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    if (session.destroyed) resolve()
    else session.once('close', () => resolve())
  })
}

async function expectServes(fixture: GrpcFixture): Promise<void> {
  using client = fixture.openClient()
  expect(await client.call('NewGid', {})).toMatchObject({ code: 0 })
  expect(fixture.errors).toEqual([])
}

describe('a hostile client', () => {
  it('A message over the bound is refused, and the server goes on', async () => {
    await using fixture = await openGrpcFixture()
    const message = { Gid: 'g', TransType: 'saga', BinPayloads: [Buffer.alloc(BODY_BYTES_MAX + 1)] }
    expect(await fixture.client.call('Submit', message)).toMatchObject({ code: 8 })
    await expectServes(fixture)
  })

  it('A packed message that is over the bound once it is unpacked is refused', async () => {
    await using fixture = await openGrpcFixture()
    const { gzipSync } = await import('node:zlib')
    const packed = gzipSync(Buffer.alloc(64 * 1024 * 1024))
    const head = Buffer.alloc(5)
    head.writeUInt8(1, 0)
    head.writeUInt32BE(packed.length, 1)
    const session = openSession(fixture)
    const stream = session.request({
      ':method': 'POST',
      ':path': '/dtmgimp.Dtm/Submit',
      'content-type': 'application/grpc',
      'grpc-encoding': 'gzip',
      te: 'trailers',
    })
    stream.end(Buffer.concat([head, packed]))
    const [headers] = await once(stream, 'response')
    expect(headers['grpc-status']).toBe('8')
    await expectServes(fixture)
  })

  it('A message that is no message of its type is refused', async () => {
    await using fixture = await openGrpcFixture()
    const garbage = Buffer.from('0000000004ffffffff', 'hex')
    const { stream, status } = openCall(openSession(fixture), garbage)
    stream.end()
    expect(await status).toBe('13')
    await expectServes(fixture)
  })

  it('A message of very many fields is not decoded, and other calls are answered', async () => {
    await using fixture = await openGrpcFixture()
    const message = {
      Gid: 'g',
      TransType: 'saga',
      BinPayloads: Array.from({ length: 300_000 }, () => Buffer.alloc(0)),
    }
    const flood = fixture.client.call('Submit', message)
    await expectServes(fixture)
    expect(await flood).toMatchObject({ code: 3, details: 'a message has more than 1024 fields' })
  })

  it('A message with a group before very many fields is not decoded', async () => {
    await using fixture = await openGrpcFixture()
    const group = Buffer.from([0x7b, 0x7c])
    const { stream, status } = openCall(
      openSession(fixture),
      toMessage(Buffer.concat([group, Buffer.alloc(BODY_BYTES_MAX - group.length, Buffer.from([0x2a, 0]))])),
    )
    stream.end()
    expect(await status).toBe('13')
    await expectServes(fixture)
  })

  for (const [what, bytes] of [
    ['bytes that are no HTTP/2', Buffer.from('GET / HTTP/1.1\r\nhost: a\r\n\r\n')],
    ['a frame of no kind', Buffer.concat([PREFACE, frame(0xfe, 0xff, 1, Buffer.alloc(64, 0xff))])],
    ['a frame that is too long', Buffer.concat([PREFACE, Buffer.from('ffffff000000000001', 'hex')])],
    [
      'headers that cannot be unpacked',
      Buffer.concat([PREFACE, frame(HEADERS, 4, 1, Buffer.alloc(32, 0xff))]),
    ],
    [
      'headers without an end',
      Buffer.concat([
        PREFACE,
        frame(HEADERS, 0, 1, HEAD),
        ...Array.from({ length: 2_000 }, () => frame(CONTINUATION, 0, 1, field('x', 'y'.repeat(100)))),
      ]),
    ],
    [
      'ten thousand pings',
      Buffer.concat([PREFACE, ...Array.from({ length: 10_000 }, () => frame(PING, 0, 0, Buffer.alloc(8)))]),
    ],
    ['calls that are reset at once', Buffer.concat([PREFACE, ...listResetCalls(20_000, HEAD)])],
    ...[0, 2].map(
      (code) =>
        [
          `the end ${code} of its calls and calls behind it`,
          Buffer.concat([
            PREFACE,
            frame(GOAWAY, 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, code])),
            ...[1, 3].flatMap((stream) => [
              frame(HEADERS, 4, stream, toHead(HEALTH_PATH)),
              frame(DATA, 1, stream, Buffer.alloc(5)),
            ]),
          ]),
        ] as const,
    ),
    [
      'calls of no service that are reset at once',
      Buffer.concat([PREFACE, ...listResetCalls(60, toHead('/no.such.Service/Call'))]),
    ],
    [
      'calls that are not of gRPC, and are reset at once',
      Buffer.concat([PREFACE, ...listResetCalls(60, toHead('/dtmgimp.Dtm/Submit', 'text/plain'))]),
    ],
  ] as const) {
    it(`A connection that brings ${what} does not stop the server`, async () => {
      await using fixture = await openGrpcFixture()
      const socket = await openSocket(fixture)
      socket.write(bytes)
      await expectServes(fixture)
      socket.destroy()
      await expect.poll(() => fixture.bounds.held.connections).toBe(0)
      await expectServes(fixture)
    })
  }

  for (const [what, path, sent, code] of [
    ['ends within its message', '/dtmgimp.Dtm/NewGid', Buffer.from([0, 0, 0, 0, 1]), '13'],
    ['ends within the head of its message', '/dtmgimp.Dtm/NewGid', Buffer.alloc(3), '13'],
    ['has no message', '/dtmgimp.Dtm/NewGid', Buffer.alloc(0), '13'],
    ['has a second message', '/dtmgimp.Dtm/NewGid', Buffer.alloc(10), '8'],
    ['has bytes that are no message', '/dtmgimp.Dtm/NewGid', Buffer.alloc(8, 2), '13'],
    [
      'has a packed message that cannot be unpacked',
      '/dtmgimp.Dtm/NewGid',
      toMessage(Buffer.alloc(9), 1),
      '13',
    ],
    ['is of no method', '/dtmgimp.Dtm/Drop', toMessage(Buffer.alloc(0)), '12'],
    ['is of a name that all objects have', '/dtmgimp.Dtm/constructor', toMessage(Buffer.alloc(0)), '12'],
    ['is of no service', '/no.such.Service/Call', toMessage(Buffer.alloc(0)), '12'],
  ] as const) {
    it(`A call that ${what} gets the code ${code}, and its connection goes on`, async () => {
      await using fixture = await openGrpcFixture()
      const session = openSession(fixture)
      const refused = openCall(session, sent, path)
      refused.stream.end()
      expect(await refused.status).toBe(code)
      const next = openCall(session, toMessage(Buffer.alloc(0)), HEALTH_PATH)
      next.stream.end()
      expect(await next.status).toBe('0')
      await expectServes(fixture)
    })
  }

  it('A call with messages that are packed in an unknown way is refused with the ways that are known', async () => {
    await using fixture = await openGrpcFixture()
    const stream = openSession(fixture).request({
      ':method': 'POST',
      ':path': '/dtmgimp.Dtm/NewGid',
      'content-type': 'application/grpc',
      'grpc-encoding': 'snappy',
    })
    stream.end(toMessage(Buffer.alloc(0), 1))
    const [headers] = await once(stream, 'response')
    expect(headers).toMatchObject({ 'grpc-status': '12', 'grpc-accept-encoding': 'identity,gzip,deflate' })
  })

  for (const request of [
    { ':method': 'POST', 'content-type': 'application/json' },
    { ':method': 'POST', 'content-type': 'application/grpcish' },
    { ':method': 'GET', 'content-type': 'application/grpc' },
    { ':method': 'POST' },
  ]) {
    it(`A request that is no call of gRPC is refused: ${JSON.stringify(request)}`, async () => {
      await using fixture = await openGrpcFixture()
      const stream = openSession(fixture).request({ ...request, ':path': '/dtmgimp.Dtm/NewGid' })
      stream.on('error', () => undefined)
      const [headers] = await once(stream, 'response')
      expect(headers[':status']).toBe(415)
      await expectServes(fixture)
    })
  }

  it('Clients without a key that begin more calls than they may, and end their connections, do not stop the server', async () => {
    await using fixture = await openGrpcFixture()
    const toCall = (stream: number) =>
      Buffer.concat([frame(HEADERS, 4, stream, toHead(HEALTH_PATH)), frame(DATA, 1, stream, Buffer.alloc(5))])
    const attack = async () => {
      for (let n = 0; n < 20; n++) {
        const socket = await openSocket(fixture)
        socket.write(PREFACE)
        for (let k = 0; k < 2 * CALLS_PER_SECOND_MAX && !socket.destroyed; k++) {
          socket.write(toCall(1 + 2 * k))
          // The server reads and answers between some of them.
          if (k % 3 === n % 3) await new Promise((resolve) => setTimeout(resolve, k % 5))
        }
        socket.end()
      }
    }
    await Promise.all(Array.from({ length: 16 }, attack))
    await expect.poll(() => fixture.bounds.held.connections, { timeout: 20_000 }).toBe(0)
    await expectServes(fixture)
  })

  it('A call whose client begins no more after it is answered', async () => {
    await using fixture = await openGrpcFixture()
    const { Prepare } = DEFINITION['dtmgimp.Dtm'] as unknown as Record<
      string,
      { readonly requestSerialize: (value: object) => Buffer }
    >
    for (let n = 0; n < 10; n++) {
      const message = Prepare?.requestSerialize({ Gid: `last-${n}`, TransType: 'tcc' }) ?? Buffer.alloc(0)
      const socket = await openSocket(fixture)
      const received: Buffer[] = []
      socket.on('data', (chunk: Buffer) => received.push(chunk))
      const closed = once(socket, 'close')
      socket.write(
        Buffer.concat([
          PREFACE,
          frame(HEADERS, 4, 1, toHead('/dtmgimp.Dtm/Prepare')),
          frame(DATA, 1, 1, toMessage(message)),
          frame(GOAWAY, 0, 0, Buffer.alloc(8)),
        ]),
      )
      await closed
      // The reply is empty, behind the head of a message.
      expect(Buffer.concat(received).includes(frame(DATA, 0, 1, toMessage(Buffer.alloc(0))))).toBe(true)
    }
    await expectServes(fixture)
  })

  it('Huge metadata is refused', async () => {
    await using fixture = await openGrpcFixture()
    const session = openSession(fixture)
    const huge = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`x-${n}`, 'x'.repeat(4_000)]))
    const stream = session.request({ ':method': 'POST', ':path': '/dtmgimp.Dtm/NewGid', ...huge })
    stream.on('error', () => undefined)
    const ended = [stream, session].map((each) => new Promise<void>((resolve) => each.once('close', resolve)))
    await Promise.race(ended)
    await expectServes(fixture)
  })

  it('A head of more than 16 KiB, and one of more than 64 headers, is refused', async () => {
    await using fixture = await openGrpcFixture()
    for (const [count, length] of [
      [1, 17_000],
      [65, 10],
    ] as const) {
      const many = Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, 'x'.repeat(length)]))
      const session = openSession(fixture)
      const stream = session.request({ ':method': 'POST', ':path': HEALTH_PATH, ...many })
      stream.on('error', () => undefined)
      const answered = new Promise<string>((resolve) =>
        stream.on('response', ({ ':status': status }) => resolve(status === 431 ? 'refused' : 'answered')),
      )
      const refused = [stream, session].map(
        (each) => new Promise<string>((resolve) => each.once('close', () => resolve('refused'))),
      )
      expect(await Promise.race([answered, ...refused])).toBe('refused')
    }
    await expectServes(fixture)
  })

  it(
    'A health check whose answer is never taken holds its call for a bounded time, and few are open at once',
    async () => {
      await using fixture = await openGrpcFixture()
      const session = connect(`http://${fixture.address}`, { settings: { initialWindowSize: 0 } })
      session.on('error', () => undefined)
      onTestFinished(() => session.destroy())
      await once(session, 'remoteSettings')
      const check = () => {
        const { stream, status } = openCall(session, toMessage(Buffer.alloc(0)), HEALTH_PATH)
        stream.end()
        return { closed: once(stream, 'close'), status, stream }
      }
      const unread = Array.from({ length: OPEN_CALLS_MAX }, check)
      expect(await check().status).toBe('8')
      await Promise.all(unread.map(({ closed }) => closed))
      expect(unread.map(({ stream }) => stream.rstCode)).toEqual(unread.map(() => 8))
      const later = check()
      expect(await Promise.race([later.status, once(later.stream, 'response').then(() => 'answered')])).toBe(
        'answered',
      )
    },
    6 * TAKE_MS_MAX,
  )

  it('A caller that has ended its call waits no longer for the result', async () => {
    await using fixture = await openGrpcFixture()
    await using service = await GrpcService.open(['Debit'], { Debit: [{ hangs: true }] })
    const { Submit } = DEFINITION['dtmgimp.Dtm'] as unknown as Record<
      string,
      { readonly requestSerialize: (message: object) => Buffer }
    >
    const saga = {
      ...{ Gid: 'g', TransType: 'saga', TransOptions: { WaitResult: true, RequestTimeout: '600' } },
      Steps: JSON.stringify([{ action: service.target('Debit') }]),
      BinPayloads: [Buffer.from('one')],
    }
    const accepting = vi.spyOn(fixture.engine, 'accept')
    const session = openSession(fixture)
    const { stream } = openCall(session, toMessage(Submit?.requestSerialize(saga) ?? Buffer.alloc(0)))
    stream.end()
    await service.waitForCalls(1)
    const endedAt = performance.now()
    stream.close(8)
    expect(await accepting.mock.results[0]?.value).toMatchObject({ gid: 'g' })
    expect(performance.now() - endedAt).toBeLessThan(15_000)
  })

  it('Large messages are decoded by turns, and others are answered between them', async () => {
    await using fixture = await openGrpcFixture()
    const { gzipSync } = await import('node:zlib')
    const steps = `[${'{},'.repeat(300_000)}{}]`
    const large = serializeSubmit({ Gid: 'g', TransType: 'saga', Steps: steps })
    const packed = toMessage(gzipSync(large), 1)
    const session = openSession(fixture)
    await once(session, 'remoteSettings')
    const calls = Array.from({ length: 24 }, async () => {
      const { stream, status } = openCall(session, packed)
      stream.end()
      // It has too many values.
      expect(await status).toBe('3')
    })
    // Those that are unpacked wait for their turns.
    await expect.poll(() => fixture.bounds.held.bodyBytes, { interval: 1 }).toBeGreaterThan(large.length)
    await expectServes(fixture)
    await Promise.all(calls)
    await expectServes(fixture)
  })

  it('An answer that is not read counts as one over HTTP, until its call ends', async () => {
    await using fixture = await openGrpcFixture()
    const gid = 'w-1'
    const workflow = {
      Gid: gid,
      TransType: 'workflow',
      CustomedData: JSON.stringify({ name: 'w', data: '' }),
      QueryPrepared: '127.0.0.1:1/w.W/Call',
    }
    expect(await fixture.client.call('PrepareWorkflow', workflow)).toMatchObject({ code: 0 })
    for (let n = 0; n < 4; n++) {
      const branch = {
        Gid: gid,
        TransType: 'workflow',
        BranchID: `0${n}`,
        Op: 'action',
        BusiPayload: Buffer.alloc(20_000, 120),
        Data: [{ key: 'status', value: 'succeed' }],
      }
      expect(await fixture.client.call('RegisterBranch', branch)).toMatchObject({ code: 0 })
    }
    const session = connect(`http://${fixture.address}`, { settings: { initialWindowSize: 0 } })
    session.on('error', () => undefined)
    onTestFinished(() => session.destroy())
    await once(session, 'remoteSettings')
    const { PrepareWorkflow } = DEFINITION['dtmgimp.Dtm'] as unknown as Record<
      string,
      { readonly requestSerialize: (value: object) => Buffer }
    >
    const message = PrepareWorkflow?.requestSerialize(workflow) ?? Buffer.alloc(0)
    const { stream } = openCall(session, toMessage(message), '/dtmgimp.Dtm/PrepareWorkflow')
    stream.end()
    await expect.poll(() => fixture.bounds.held.bodyBytes).toBeGreaterThan(80_000)
    stream.close()
    await expect.poll(() => fixture.bounds.held.bodyBytes).toBe(0)
  })

  it('Small answers that are not read count for what their calls hold, and their connection ends beyond the bound', async () => {
    await using fixture = await openGrpcFixture({ limits: { unreadBodyBytesMax: 512 * 1024 } })
    const deaf = connect(`http://${fixture.address}`, { settings: { initialWindowSize: 0 } })
    deaf.on('error', () => undefined)
    onTestFinished(() => deaf.destroy())
    await once(deaf, 'remoteSettings')
    const askMore = (calls: number) => {
      for (let n = 0; n < calls; n++)
        openCall(deaf, toMessage(Buffer.alloc(0)), '/dtmgimp.Dtm/NewGid').stream.end()
    }
    askMore(40)
    await expect
      .poll(() => fixture.bounds.held.bodyBytes, { timeout: 10 * UNTAKEN_MS })
      .toBeGreaterThan(40 * 10 * 1024)
    expect(deaf.destroyed).toBe(false)
    const closed = once(deaf, 'close')
    askMore(40)
    await closed
    expect(fixture.bounds.held.bodyBytes).toBe(0)
    await expectServes(fixture)
  })

  it('Many answers that are given at once and taken end no connection', async () => {
    await using fixture = await openGrpcFixture({ limits: { unreadBodyBytesMax: 128 * 1024 } })
    const { engine } = fixture
    const gate = new AbortController()
    const opened = once(gate.signal, 'abort')
    let asked = 0
    const accept = engine.accept.bind(engine)
    engine.accept = async (...given) => {
      const accepted = await accept(...given)
      asked++
      await opened
      return accepted
    }
    using client = fixture.openClient()
    const answers = Array.from({ length: 40 }, (_, n) =>
      client.call('Submit', {
        Gid: `burst-${n}`,
        TransType: 'saga',
        Steps: JSON.stringify([{ action: 'http://127.0.0.1:1/', compensate: '' }]),
        BinPayloads: [Buffer.from('{}')],
      }),
    )
    await expect.poll(() => asked, { timeout: 10_000 }).toBe(answers.length)
    gate.abort()
    for (const answer of await Promise.all(answers)) expect(answer).toMatchObject({ code: 0 })
    await expectServes(fixture)
  })

  it('More calls than one connection may have wait or are refused, and other connections are served', async () => {
    await using fixture = await openGrpcFixture()
    const session = openSession(fixture)
    await once(session, 'remoteSettings')
    for (let n = 0; n < 1_000; n++) openCall(session, Buffer.alloc(1))
    await expectServes(fixture)
  })

  it('Calls that send slowly lose their turns to a call that waits', async () => {
    await using fixture = await openGrpcFixture()
    const session = openSession(fixture)
    await once(session, 'remoteSettings')
    const slow = Array.from({ length: KEYED_BOUNDS.receivingMax }, () => openCall(session, Buffer.alloc(3)))
    await expectServes(fixture)
    expect(await Promise.race(slow.map(({ status }) => status))).toBe('4')
  })

  it('Health calls without a message keep neither a call with a key nor a health check waiting', async () => {
    await using fixture = await openGrpcFixture()
    const sessions = Array.from({ length: 16 }, () => openSession(fixture))
    await Promise.all(sessions.map((session) => once(session, 'remoteSettings')))
    const calls = sessions.flatMap((session) =>
      Array.from({ length: OPEN_CALLS_MAX }, () => openCall(session, Buffer.alloc(3), HEALTH_PATH)),
    )
    // The server has seen most of them once the first one has lost its turn to another.
    expect(await calls[0]?.status).toBe('4')
    const startedAt = performance.now()
    await expectServes(fixture)
    expect(await fixture.client.call('Check', { service: '' })).toMatchObject({ code: 0 })
    // A call that waited for a turn would wait for 250 ms at least, and each of the 128 calls would be before it.
    expect(performance.now() - startedAt).toBeLessThan(2_000)
    expect(new Set(await Promise.all(calls.map(({ status }) => status)))).toEqual(new Set(['4']))
  })

  for (const [what, path] of [
    ['a health check', HEALTH_PATH],
    ['a call with a key', '/dtmgimp.Dtm/NewGid'],
  ] as const) {
    it(`Of many messages in ${what} none after the first one is unpacked`, async () => {
      await using fixture = await openGrpcFixture()
      const { gzipSync } = await import('node:zlib')
      const empty = gzipSync(Buffer.alloc(0))
      const session = openSession(fixture)
      // More bytes of a caller without a key may end its connection before the answer.
      const packed = Array.from({ length: 400 }, () => toMessage(empty, 1))
      expect(await openCall(session, Buffer.concat(packed), path).status).toBe('8')
      await expectServes(fixture)
    })
  }

  it('One connection has few calls for reflection open', async () => {
    await using fixture = await openGrpcFixture()
    const session = openSession(fixture)
    const question = toMessage(Buffer.from([0x3a, 0]))
    const open = async () => {
      const { stream, status } = openCall(session, question, REFLECTION_PATH)
      return await Promise.race([status, once(stream, 'data').then(() => stream)])
    }
    const [first] = [await open(), await open(), await open(), await open()]
    expect(await open()).toBe('8')
    if (typeof first === 'object') first.end()
    await expect.poll(async () => typeof (await open())).toBe('object')
    await expectServes(fixture)
  })

  it.each([
    ['for reflection whose answers are not read', REFLECTION_PATH],
    ['that waits for its turn', '/dtmgimp.Dtm/Submit'],
  ])('S41: A call %s is reset when it brings thousands of frames of one byte', async (_, path) => {
    await using fixture = await openGrpcFixture()
    const session = openSession(fixture)
    await once(session, 'remoteSettings')
    if (path !== REFLECTION_PATH)
      for (let n = 0; n < KEYED_BOUNDS.receivingMax; n++) openCall(session, Buffer.alloc(3))
    const socket = await openSocket(fixture)
    const codes = listResets(socket)
    const question = toMessage(Buffer.from('\x1a\x0ddtmgimp.proto'))
    socket.write(
      Buffer.concat([
        PREFACE_WITHOUT_WINDOW,
        frame(HEADERS, 4, 1, toHead(path)),
        frame(DATA, 0, 1, Buffer.concat(Array.from({ length: 20 }, () => question))),
        ...Array.from({ length: 50_000 }, () => frame(DATA, 0, 1, Buffer.alloc(1))),
      ]),
    )
    await expect.poll(() => codes).toEqual([constants.NGHTTP2_ENHANCE_YOUR_CALM])
    await expectServes(fixture)
  })

  it('Headers that are no text are written to no log', async () => {
    const written = [vi.spyOn(console, 'error'), vi.spyOn(process.stderr, 'write')]
    onTestFinished(() => {
      for (const each of written) each.mockRestore()
    })
    await using fixture = await openGrpcFixture()
    const socket = await openSocket(fixture)
    const secret = Buffer.concat([
      Buffer.from([0, 13]),
      Buffer.from('authorization'),
      Buffer.from([3, 0xff, 0xff, 0xff]),
    ])
    socket.write(Buffer.concat([PREFACE, frame(HEADERS, 4, 1, Buffer.concat([HEAD, secret]))]))
    const [answer] = await once(socket, 'data')
    expect(answer.length).toBeGreaterThan(0)
    await expectServes(fixture)
    for (const each of written) expect(each.mock.calls).toEqual([])
  })

  it('A call for reflection asks many questions at once, and has an answer to each, up to a bound', async () => {
    await using fixture = await openGrpcFixture()
    const ask = (count: number) =>
      openCall(
        openSession(fixture),
        Buffer.concat(Array.from({ length: count }, () => toMessage(Buffer.from([0x3a, 0])))),
        REFLECTION_PATH,
      )
    const many = ask(MESSAGES_MAX)
    let answers = 0
    const counter = new MessageReader(BODY_BYTES_MAX)
    many.stream.on('data', (chunk: Buffer) => {
      for (const _ of counter.read(chunk)) answers++
    })
    many.stream.end()
    expect(await many.status).toBe('0')
    expect(answers).toBe(MESSAGES_MAX)
    expect(await ask(MESSAGES_MAX + 1).status).toBe('8')
    await expectServes(fixture)
  })

  it('A health call brings a small message alone, packed or not', async () => {
    await using fixture = await openGrpcFixture()
    const { gzipSync } = await import('node:zlib')
    const session = openSession(fixture)
    const large = Buffer.alloc(SMALL_MESSAGE_BYTES + 1)
    const plain = openCall(session, toMessage(large), HEALTH_PATH)
    expect(await plain.status).toBe('8')
    const packed = openCall(session, toMessage(gzipSync(large), 1), HEALTH_PATH)
    expect(await packed.status).toBe('8')
    await expectServes(fixture)
  })

  it('One connection and one address hold a part of the places of those who watch the health', async () => {
    await using fixture = await openGrpcFixture()
    const watch = async (session: ClientHttp2Session) => {
      const { stream, status } = openCall(session, toMessage(Buffer.alloc(0)), WATCH_PATH)
      stream.end()
      return await Promise.race([status, once(stream, 'data').then(() => 'watches')])
    }
    const first = openSession(fixture)
    for (let n = 0; n < WATCHERS_PER_CONNECTION_MAX; n++) expect(await watch(first)).toBe('watches')
    expect(await watch(first)).toBe('8')
    for (let n = WATCHERS_PER_CONNECTION_MAX; n < WATCHERS_PER_ADDRESS_MAX; ) {
      const session = openSession(fixture)
      for (let m = 0; m < WATCHERS_PER_CONNECTION_MAX; m++, n++) expect(await watch(session)).toBe('watches')
    }
    expect(await watch(openSession(fixture))).toBe('8')
    first.destroy()
    await expect.poll(() => watch(openSession(fixture))).toBe('watches')
  })

  it('A call for reflection brings small messages alone, the first one and later ones', async () => {
    await using fixture = await openGrpcFixture()
    const session = openSession(fixture)
    const large = toMessage(Buffer.alloc(SMALL_MESSAGE_BYTES + 1))
    expect(await openCall(session, large, REFLECTION_PATH).status).toBe('8')
    const { stream, status } = openCall(session, toMessage(Buffer.from([0x3a, 0])), REFLECTION_PATH)
    await once(stream, 'data')
    stream.write(large)
    expect(await status).toBe('8')
    await expectServes(fixture)
  })

  it('A call that has brought its message keeps its turn until it has sent all', async () => {
    await using fixture = await openGrpcFixture()
    const session = openSession(fixture)
    await once(session, 'remoteSettings')
    const begun = Buffer.concat([toMessage(Buffer.alloc(0)), Buffer.alloc(3)])
    const slow = Array.from({ length: KEYED_BOUNDS.receivingMax }, () => openCall(session, begun))
    await expectServes(fixture)
    expect(await Promise.race(slow.map(({ status }) => status))).toBe('4')
  })

  it('A caller without a key gets no turn to send, and its connection ends', async () => {
    const keys = { find: () => undefined } as never
    await using fixture = await openGrpcFixture({ gate: { keys } })
    const session = openSession(fixture)
    const calls = Array.from({ length: CALLS_PER_SECOND_MAX }, () => openCall(session, Buffer.alloc(3)))
    for (const status of await Promise.all(calls.map((call) => call.status)))
      expect(['16', '8']).toContain(status)
    await closes(session)
  })

  for (const path of [HEALTH_PATH, REFLECTION_PATH, undefined]) {
    it(`A burst of calls without a key ends its connection, and others are served: ${path ?? 'Submit'}`, async () => {
      const keys = { find: () => undefined } as never
      await using fixture = await openGrpcFixture({ gate: { keys } })
      const session = openSession(fixture)
      await once(session, 'remoteSettings')
      const calls = Array.from({ length: 90 }, () => openCall(session, toMessage(Buffer.alloc(0)), path))
      await closes(session)
      expect(await Promise.all(calls.map(({ status }) => status))).toContain(undefined)
      expect(await fixture.client.call('Check', { service: '' })).toMatchObject({ code: 0 })
    })
  }

  it.each(['has expired', 'is revoked'])(
    'A connection is a stranger again when its key %s, and ends at a burst of calls',
    async (what) => {
      const folder = await mkdtemp(join(tmpdir(), 'dtm-grpc-hostile-'))
      onTestFinished(() => rm(folder, { recursive: true }))
      const path = join(folder, 'keys.json')
      const expiresAt = 1_000_000
      const { key } = await createKey(path, { name: 'own', scopes: ['submit'], createdAt: 0, expiresAt })
      const ring = await KeyRing.open(path, { onRead: () => undefined, onBroken: () => undefined })
      onTestFinished(() => ring.close())
      let isBad = false
      const keys = { find: (id: string) => (isBad && what === 'is revoked' ? undefined : ring.find(id)) }
      const nowMs = () => (isBad && what === 'has expired' ? expiresAt : expiresAt - 1)
      await using fixture = await openGrpcFixture({ gate: { keys: keys as KeyRing, nowMs } })
      const session = openSession(fixture)
      await once(session, 'remoteSettings')
      const call = () =>
        openCall(session, toMessage(Buffer.alloc(0)), '/dtmgimp.Dtm/NewGid', {
          authorization: `Bearer ${key}`,
        })
      const open = Array.from({ length: 2 * CALLS_PER_SECOND_MAX }, call)
      for (const { stream } of open) stream.end()
      expect(new Set(await Promise.all(open.map(({ status }) => status)))).toEqual(new Set(['0']))
      isBad = true
      const refused = Array.from({ length: 2 * CALLS_PER_SECOND_MAX }, call)
      await closes(session)
      const statuses = await Promise.all(refused.map(({ status }) => status))
      expect(statuses.filter((each) => each === '16').length).toBeLessThanOrEqual(CALLS_PER_SECOND_MAX)
    },
  )

  it('A connection without a key that sends much ends, though its calls are none of the service', async () => {
    await using fixture = await openGrpcFixture()
    const session = openSession(fixture)
    await once(session, 'remoteSettings')
    const closed = closes(session)
    for (let calls = 0; !session.closed && !session.destroyed && calls < 100_000; calls++) {
      const { status } = openCall(session, toMessage(Buffer.alloc(0)), '/no.such.Service/Call')
      await Promise.race([status, closed])
    }
    await closed
    await expectServes(fixture)
  })
})
