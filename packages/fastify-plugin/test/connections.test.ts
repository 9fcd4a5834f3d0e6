import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FastifyInstance, fastify } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KEYLESS, registerEmbedded } from './embedded-app.ts'

const MIB = 1024 * 1024
const POLL = { timeout: 10_000, interval: 5 }
const SUBMIT =
  'POST /counterstep/v1/transactions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'

let folder = ''
const sockets: Socket[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-connections-'))
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await rm(folder, { recursive: true, force: true })
})

async function send(
  app: FastifyInstance,
  bytes: string,
): Promise<{ readonly text: string; readonly isEnded: boolean }> {
  const { port } = app.server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  const heard = { text: '', isEnded: false }
  socket.setEncoding('utf8').on('data', (text: string) => {
    heard.text += text
  })
  socket.on('error', () => undefined).on('close', () => Object.assign(heard, { isEnded: true }))
  await once(socket, 'connect')
  socket.write(bytes)
  return heard
}

/** Makes an app with a route of its own, which takes a body and requests that the HTTP API finds odd. */
function buildOwnApp(): FastifyInstance {
  const app = fastify()
  app.post('/own', () => 'own')
  return app
}

describe('S41: the HTTP API on a server of the app', () => {
  const keys = { find: () => undefined }
  const body = `Content-Length: 900000\r\n\r\n${' '.repeat(300_000)}`

  it('S41: The connection of a caller without a key ends at the head, and that of a caller of the app does not', async () => {
    await using app = await registerEmbedded(join(folder, 'a.db'), { face: { keys } }, buildOwnApp())
    await app.listen({ port: 0, host: '127.0.0.1' })
    const own = await send(app, `POST /own HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 0\r\n\r\n`)
    const refused = await send(app, SUBMIT + body)
    await expect.poll(() => refused.isEnded, POLL).toBe(true)
    expect(refused.text).toMatch(/^HTTP\/1\.1 401 /)
    expect([own.text.slice(9, 12), own.isEnded]).toEqual(['200', false])
  })

  it('S41: Unfinished bodies are held up to a bound', async () => {
    const face = { ...KEYLESS, unreadBodyBytesMax: MIB }
    await using app = await registerEmbedded(join(folder, 'a.db'), { face }, buildOwnApp())
    await app.listen({ port: 0, host: '127.0.0.1' })
    const senders = await Promise.all(Array.from({ length: 6 }, () => send(app, SUBMIT + body)))
    await expect.poll(() => senders.filter(({ isEnded }) => isEnded).length, POLL).toBeGreaterThanOrEqual(3)
    const small = await send(app, `${SUBMIT}Content-Length: 20000\r\n\r\n${' '.repeat(20_000)}`)
    await expect.poll(() => small.text, POLL).toMatch(/^HTTP\/1\.1 400 /)
    // The app waits for its connections when it closes.
    for (const socket of sockets) socket.destroy()
  })

  it('S41: Two of an app hold the bodies of its connections up to one bound', async () => {
    await using app = fastify()
    for (const name of ['a', 'b'])
      app.register(async (scope) => {
        const face = { ...KEYLESS, prefix: `/${name}`, unreadBodyBytesMax: MIB }
        await registerEmbedded(join(folder, `${name}.db`), { face }, scope)
      })
    const accepted: Socket[] = []
    app.server.on('connection', (socket: Socket) => accepted.push(socket))
    await app.listen({ port: 0, host: '127.0.0.1' })
    const submit = SUBMIT.replace('/counterstep/', '/b/')
    for (let round = 1; round <= 6; round++) {
      const bytes = `GET /a/v1/overview HTTP/1.1\r\nHost: localhost\r\n\r\n${submit}${body}`
      await send(app, bytes)
      await expect.poll(() => accepted.at(-1)?.bytesRead, POLL).toBe(bytes.length)
      sockets.at(-1)?.destroy()
      await expect.poll(() => accepted.at(-1)?.closed, POLL).toBe(true)
    }
    const small = await send(app, `${submit}Content-Length: 20000\r\n\r\n${' '.repeat(20_000)}`)
    await expect.poll(() => small.text, POLL).toMatch(/^HTTP\/1\.1 400 /)
    expect(small.isEnded).toBe(false)
    for (const socket of sockets) socket.destroy()
  })

  it('S41: The second of an app cannot have another bound than the first', async () => {
    await using app = fastify()
    const faceOf = (prefix: string, mib: number) => ({
      face: { ...KEYLESS, prefix, unreadBodyBytesMax: mib * MIB },
    })
    await app.register((scope) => registerEmbedded(join(folder, 'a.db'), faceOf('/a', 2), scope))
    await expect(
      app.register((scope) => registerEmbedded(join(folder, 'b.db'), faceOf('/b', 3), scope)),
    ).rejects.toThrow('is 2097152 already')
  })

  it('S41: A request that others may read in another way is refused', async () => {
    await using app = await registerEmbedded(join(folder, 'a.db'), { face: KEYLESS }, buildOwnApp())
    await app.listen({ port: 0, host: '127.0.0.1' })
    const odd = await send(app, `${SUBMIT}Host: evil.example\r\nContent-Length: 2\r\n\r\n{}`)
    await expect.poll(() => odd.isEnded, POLL).toBe(true)
    expect(odd.text).toMatch(/^HTTP\/1\.1 400 /)
  })

  it('S41: A bound that is out of range is refused', async () => {
    const face = { ...KEYLESS, unreadBodyBytesMax: 1_000 }
    await expect(registerEmbedded(join(folder, 'a.db'), { face })).rejects.toThrow('unreadBodyBytesMax')
  })
})
