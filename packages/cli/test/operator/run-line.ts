import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readOperatorLine } from '../../src/operator/line/operator-line.ts'
import { cleanText } from '../../src/operator/print/clean-text.ts'
import type { Terminal } from '../../src/operator/run/operator-context.ts'
import { runOperator } from '../../src/operator/run/run-operator.ts'

export interface Reply {
  readonly status?: number
  readonly body: unknown
}

export interface Sent {
  readonly method: string
  readonly url: string
  readonly body: string
}

export interface Given {
  /** The answers by `METHOD PATH` without the query. */
  readonly replies?: Readonly<Record<string, Reply>>
  /** The line that the person types. Without it there is no terminal. */
  readonly typed?: string
  readonly input?: string
}

/** Runs a command line against a server that the test plays, and returns all that was shown and sent. */
export async function runLine(args: readonly string[], { replies = {}, typed, input = '' }: Given = {}) {
  const sent: Sent[] = []
  const server = createServer(async (request, response) => {
    const seen = { method: request.method ?? '', url: request.url ?? '', body: await readBody(request) }
    sent.push(seen)
    const reply = replies[`${seen.method} ${seen.url.split('?')[0]}`]
    const { status = 200, body } = reply ?? {
      status: 404,
      body: { code: 'SAGA_UNKNOWN_GID', detail: 'there is no transaction with this gid' },
    }
    response.writeHead(status, { 'content-type': 'application/json', 'counterstep-now': String(NOW) })
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const read = readOperatorLine([...args, '--url', `http://127.0.0.1:${port}`], {})
  if (!('line' in read)) throw new Error(JSON.stringify(read))
  const shown: { stdout: string[]; stderr: string[]; asked: string[] } = { stdout: [], stderr: [], asked: [] }
  const terminal: Terminal = {
    ask: async (question) => {
      shown.asked.push(question)
      return typed ?? ''
    },
    close: () => undefined,
  }
  const code = await runOperator({
    line: read.line,
    print: (text) => shown.stdout.push(cleanText(text)),
    say: (text) => shown.stderr.push(cleanText(text)),
    openTerminal: () => (typed === undefined ? undefined : terminal),
    readFile: async () => input,
    width: 110,
    signal: new AbortController().signal,
  })
  server.closeAllConnections()
  server.close()
  return { code, sent, ...shown }
}

/** The time at the server. */
export const NOW = Date.UTC(2026, 10, 24, 3, 1, 12)

async function readBody(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += chunk
  return body
}
