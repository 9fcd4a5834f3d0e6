import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { findConnection, pauseReading, resumeReading } from '../src/connection.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

it('Nothing is read from a connection that is paused when it opens, until it is resumed', async () => {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    response.end('done')
  })
  const opened: Socket[] = []
  server.on('connection', (socket: Socket) => {
    opened.push(socket)
    if (opened.length === 1) pauseReading(findConnection(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const ask = (path: string) => {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.write(REQUEST.replace('/', path))
    return new Promise<void>((resolve) => socket.once('data', () => resolve()))
  }
  const first = ask('/first')
  await expect.poll(() => opened.length).toBe(1)
  // The bytes of the first one are there by then.
  for (let count = 0; count < 20; count++) await ask(`/${count}`)
  expect(paths).not.toContain('/first')
  resumeReading(findConnection(opened[0] as Socket))
  await first
  expect(paths.at(-1)).toBe('/first')
})
