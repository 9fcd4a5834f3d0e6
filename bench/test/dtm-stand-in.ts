import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface DtmStandIn {
  readonly url: string
  close(): void
}

interface Submit {
  readonly gid: string
  readonly steps: readonly { readonly action: string }[]
  readonly payloads: readonly string[]
}

/** The part of DTM's dialect that a load needs: actions are called one after the other, and gids are remembered. */
export async function startDtmStandIn({ skipsCalls = false } = {}): Promise<DtmStandIn> {
  const succeeded = new Set<string>()
  const run = async ({ gid, steps, payloads }: Submit) => {
    if (succeeded.has(gid)) return { dtm_result: 'FAILURE', message: `current status 'succeed' FAILURE` }
    for (const [index, { action }] of steps.entries()) {
      if (skipsCalls && index > 0) continue
      await fetch(action, { method: 'POST', body: payloads[index] ?? '' })
    }
    succeeded.add(gid)
    return { dtm_result: 'SUCCESS' }
  }
  const answer = async (request: IncomingMessage): Promise<object> => {
    const url = new URL(request.url ?? '', 'http://stand-in')
    switch (url.pathname) {
      case '/api/dtmsvr/newGid':
        return { dtm_result: 'SUCCESS', gid: 'a' }
      case '/api/dtmsvr/submit':
        return await run(JSON.parse(await readText(request)))
      case '/api/dtmsvr/query': {
        const gid = url.searchParams.get('gid') ?? ''
        return { branches: [], transaction: succeeded.has(gid) ? { gid, status: 'succeed' } : null }
      }
      default:
        throw new Error(`nobody should ask for ${url.pathname}`)
    }
  }
  const server = createServer((request, response) => {
    answer(request).then(
      (body) => response.end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
