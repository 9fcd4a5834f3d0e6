import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeRegistry {
  readonly url: string
  close(): Promise<void>
}

/** A registry that has these packages alone, each in one version, and takes none. */
export async function startFakeRegistry(packages: Readonly<Record<string, string>>): Promise<FakeRegistry> {
  const server = createServer((request, response) => {
    const name = decodeURIComponent(request.url?.slice(1) ?? '')
    const version = request.method === 'GET' ? packages[name] : undefined
    response.writeHead(version === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(version === undefined ? '{}' : JSON.stringify(packument(name, version)))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function packument(name: string, version: string): object {
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { name, version, dist: {} } } }
}
