import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { canary } from '@counterstep/test-servers/canary'

/** A branch that tells secrets of its own, and answers as its path asks: `/200`, `/409`, `/302`, `/break`. */
export async function startTellingBranch(): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const word = request.url?.split(/[/?]/)[1] ?? ''
    if (word === 'break') {
      request.socket.resetAndDestroy()
      return
    }
    const secret = canary(`answer-${word}`)
    response.writeHead(Number(word), {
      location: `http://127.0.0.1:9/?${secret}`,
      'set-cookie': secret,
      'x-secret': secret,
    })
    response.end(JSON.stringify({ secret }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}
