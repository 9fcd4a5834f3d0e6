import { createServer, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { ANSWER_BYTES_MAX, createBoundedAgent } from '../src/bounded-agent.ts'

async function openReceiver(answer: RequestListener) {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const agent = createBoundedAgent('http:')
  onTestFinished(() => agent.destroy())
  let connections = 0
  server.on('connection', () => {
    connections += 1
  })
  const { port } = server.address() as AddressInfo
  /** Resolves with the bytes of the body that have come, and tells whether that was all. */
  const send = () =>
    new Promise<{ readonly bytes: number; readonly isWhole: boolean }>((resolve) => {
      let bytes = 0
      const cut = () => resolve({ bytes, isWhole: false })
      const sent = request({ host: '127.0.0.1', port, method: 'POST', agent }, (response) => {
        response.on('data', ({ length }: Buffer) => {
          bytes += length
        })
        response.on('end', () => resolve({ bytes, isWhole: true }))
        response.on('error', cut)
      })
      sent.on('error', cut)
      sent.end('spans')
    })
  return { send, countConnections: () => connections }
}

it('An answer in endless chunks of one byte ends its connection at the bound', async () => {
  const { send } = await openReceiver((_request, response) => {
    const socket = response.socket
    const chunks = '1\r\nx\r\n'.repeat(10_000)
    const write = () => {
      while (socket?.destroyed === false && socket.write(chunks));
      socket?.once('drain', write)
    }
    socket?.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    write()
  })
  const { bytes, isWhole } = await send()
  expect(isWhole).toBe(false)
  // Each byte takes six. What one read brings behind the bound is looked at all the same.
  expect(bytes).toBeLessThan((2 * ANSWER_BYTES_MAX) / 6)
})

it('Many answers that are under the bound come over one connection', async () => {
  const { send, countConnections } = await openReceiver((_request, response) =>
    response.end('x'.repeat(8_192)),
  )
  for (let count = 0; count < 20; count++) expect(await send()).toEqual({ bytes: 8_192, isWhole: true })
  expect(countConnections()).toBe(1)
})
