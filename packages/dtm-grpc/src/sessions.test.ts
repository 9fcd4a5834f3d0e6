import { once } from 'node:events'
import { type ClientHttp2Session, connect, createServer } from 'node:http2'
import { type AddressInfo, connect as connectTcp } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AGE_MS_MAX, ENDING_MS_MAX, IDLE_MS_MAX, judgeSession, Sessions } from './sessions.ts'

const NEW = { startedAt: 0, idleSince: 0, endingSince: undefined, isAnswering: true }
const BUSY = { ...NEW, idleSince: undefined }
const ENDING = { ...BUSY, endingSince: 1_000 }

describe('the life of a connection over HTTP/2', () => {
  it.each([
    ['is new', NEW, 0, 'keep'],
    ['has had no call for almost five minutes', NEW, IDLE_MS_MAX - 1, 'keep'],
    ['has had no call for five minutes', NEW, IDLE_MS_MAX, 'end'],
    ['has a call for longer', BUSY, IDLE_MS_MAX, 'keep'],
    ['is an hour old and has a call', BUSY, AGE_MS_MAX, 'end'],
    ['was asked to end, and has a call', ENDING, 1_000 + ENDING_MS_MAX - 1, 'keep'],
    ['was asked to end, and has a call after its time', ENDING, 1_000 + ENDING_MS_MAX, 'cut'],
    ['has not answered the last ping', { ...BUSY, isAnswering: false }, 1, 'cut'],
  ] as const)('One that %s', (_what, state, now, verdict) => {
    expect(judgeSession(state, now)).toBe(verdict)
  })
})

async function open() {
  const server = createServer()
  const sessions = new Sessions()
  server.on('session', (session) => sessions.add(session))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    sessions.close()
    server.close()
  })
  return { server, sessions, port }
}

async function openClient(port: number): Promise<ClientHttp2Session> {
  const client = connect(`http://127.0.0.1:${port}`)
  client.on('error', () => undefined)
  onTestFinished(() => client.destroy())
  await once(client, 'remoteSettings')
  return client
}

describe('connections over HTTP/2', () => {
  it('One without calls is asked to end after its time, and ends', async () => {
    const { sessions, port } = await open()
    const client = await openClient(port)
    const told = once(client, 'goaway')
    sessions.check(performance.now() + IDLE_MS_MAX)
    expect((await told)[0]).toBe(0)
    await once(client, 'close')
  })

  it('One with a call is asked to end after an hour, ends with its call, and is cut if the call goes on', async () => {
    for (const isLong of [false, true]) {
      const { server, sessions, port } = await open()
      const client = await openClient(port)
      const call = client.request({ ':method': 'POST' })
      call.on('error', () => undefined)
      const [stream] = await once(server, 'stream')
      stream.on('error', () => undefined)
      const told = once(client, 'goaway')
      sessions.check(performance.now() + AGE_MS_MAX)
      await told
      expect(call.closed).toBe(false)
      const closed = once(client, 'close')
      if (isLong) {
        sessions.check(performance.now() + ENDING_MS_MAX)
      } else {
        call.resume()
        call.end()
        stream.respond({ ':status': 200 }, { endStream: true })
        stream.resume()
      }
      await closed
    }
  })

  it('One whose client answers no ping is cut, and one whose client does is not', async () => {
    const { server, sessions, port } = await open()
    const client = await openClient(port)
    const silent = connectTcp({ host: '127.0.0.1', port })
    silent.on('error', () => undefined)
    onTestFinished(() => void silent.destroy())
    silent.resume()
    const begun = once(server, 'session')
    silent.write(
      Buffer.concat([
        Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
        Buffer.from('000000040000000000', 'hex'),
      ]),
    )
    await begun
    const asked = once(client, 'ping')
    sessions.check(performance.now())
    await asked
    // Its answer to that comes before this ping.
    await new Promise<void>((resolve) => client.ping(() => resolve()))
    sessions.check(performance.now())
    await once(silent, 'close')
    await new Promise<void>((resolve) => client.ping(() => resolve()))
    expect(client.closed).toBe(false)
  })
})
