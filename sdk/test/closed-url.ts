import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** This is a port where nothing listens any more. */
export async function closedUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}
