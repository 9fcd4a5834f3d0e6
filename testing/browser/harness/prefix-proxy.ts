import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface PrefixProxy extends AsyncDisposable {
  /** The root of the server, as a browser sees it. It ends with a slash. */
  readonly url: string
}

/** Puts a prefix before a server, as a reverse proxy does: it takes the prefix away and passes everything else on. */
export async function startPrefixProxy(serverUrl: string, prefix: string): Promise<PrefixProxy> {
  const proxy = await startProxy({ [prefix]: serverUrl })
  return { ...proxy, url: `${proxy.url}${prefix.slice(1)}/` }
}

/** Puts several servers behind one origin, each under the prefix that is its name. */
export async function startProxy(serverUrls: Readonly<Record<string, string>>): Promise<PrefixProxy> {
  const proxy = createServer((asked, answer) => {
    const { url = '' } = asked
    const found = Object.entries(serverUrls).find(([prefix]) => url.startsWith(`${prefix}/`))
    if (found === undefined) {
      answer.writeHead(404).end('nothing of ours')
      return
    }
    const [prefix, serverUrl] = found
    pass(asked, answer, new URL(serverUrl), url.slice(prefix.length))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}

function pass(asked: IncomingMessage, answer: ServerResponse, target: URL, path: string): void {
  const { method, headers } = asked
  const options = { host: target.hostname, port: target.port, method, path, headers }
  const passed = request(options, (got) => {
    answer.writeHead(got.statusCode ?? 502, got.headers)
    got.pipe(answer)
  })
  passed.on('error', () => answer.destroy())
  // A stream of events goes on until its reader leaves.
  answer.on('close', () => passed.destroy())
  asked.pipe(passed)
}
