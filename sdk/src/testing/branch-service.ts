import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Says how the kit reaches the service. Give a running service by its URL, and a Fastify app by its `inject`. Give an
 * Express app, or anything that `node:http` can call with its request and response, as a `listener`; the kit listens on a
 * loopback port of its own meanwhile. Give anything else as a function like `fetch`.
 *
 * @example
 * ```ts
 * const service: BranchService = { listener: express().use(express.json({ limit: '1mb', strict: false })).post('/debit', debitHandler) }
 * ```
 */
export type BranchService =
  | { readonly url: string | URL }
  | { readonly fastify: FastifyInjector }
  | { readonly listener: (request: never, response: never) => unknown }
  | { readonly fetch: (request: Request) => Response | Promise<Response> }

/**
 * The part of a Fastify app that is used.
 *
 * @example
 * ```ts
 * const app: FastifyInjector = fastify()
 * ```
 */
export interface FastifyInjector {
  inject(request: {
    readonly method: 'POST'
    readonly url: string
    readonly headers: Record<string, string>
    readonly payload: string
  }): PromiseLike<{ readonly statusCode: number; readonly body: string }>
}

export interface WireRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface WireAnswer {
  readonly statusCode: number
  readonly body: string
}

export interface OpenService {
  /** The paths of action and compensation are relative to this URL. */
  readonly base: URL
  send(request: WireRequest, signal: AbortSignal): Promise<WireAnswer>
  close(): Promise<void>
}

// Nothing listens at this URL. In process only the path counts.
const IN_PROCESS = new URL('http://service.test/')

export async function openService(service: BranchService): Promise<OpenService> {
  if ('url' in service) return fetched(new URL(service.url), fetch)
  if ('listener' in service) return listening(service.listener)
  if ('fetch' in service) return fetched(IN_PROCESS, service.fetch)
  const { fastify } = service
  return {
    base: IN_PROCESS,
    send: async ({ url, headers, body }) => {
      const request = {
        method: 'POST',
        url: url.pathname + url.search,
        headers: { ...headers },
        payload: body,
      } as const
      const answer = await fastify.inject(request)
      return { statusCode: answer.statusCode, body: answer.body }
    },
    close: async () => undefined,
  }
}

function fetched(base: URL, ask: (request: Request) => Response | Promise<Response>): OpenService {
  return {
    base,
    send: async ({ url, headers, body }, signal) => {
      // The orchestrator follows no redirect either.
      const request = new Request(url, { method: 'POST', headers, body, redirect: 'manual', signal })
      const response = await ask(request)
      return { statusCode: response.status, body: await response.text() }
    },
    close: async () => undefined,
  }
}

async function listening(listener: (request: never, response: never) => unknown): Promise<OpenService> {
  // The type of `listener` names nothing of Node, so that the types of this entry need no @types/node.
  const server = createServer(listener as RequestListener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    ...fetched(new URL(`http://127.0.0.1:${port}/`), fetch),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
