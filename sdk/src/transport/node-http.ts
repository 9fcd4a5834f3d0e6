import type * as Http from 'node:http'
import type * as Https from 'node:https'

/** Node's HTTP client for one protocol, with the connections that all clients of this process share. */
export interface NodeHttp {
  readonly module: Pick<typeof Http, 'request'>
  readonly agent: Http.Agent
}

/**
 * One origin has so many sockets. A further call waits for one within its own time. A long wait of the server holds
 * one.
 */
const SOCKETS_MAX = 1_024
const IDLE_SOCKETS_MAX = 256
/**
 * It is shorter than the 5 s after which a server with Node's defaults closes it. A shorter `Keep-Alive` hint is
 * obeyed.
 */
const IDLE_MS = 4_000

const OPTIONS = {
  keepAlive: true,
  maxSockets: SOCKETS_MAX,
  maxFreeSockets: IDLE_SOCKETS_MAX,
  timeout: IDLE_MS,
} as const

// Shared, as the connections behind `fetch` are: who makes a client for each call still gets a warm connection.
const made = new Map<string, NodeHttp>()

/**
 * It is undefined where this is not Node: there the global `fetch` is the client. Asked of the running process and not
 * imported, so that the module also loads, and bundles, for platforms without `node:http`.
 */
export function nodeHttp(protocol: string): NodeHttp | undefined {
  if (!isNode()) return undefined
  const known = made.get(protocol)
  if (known !== undefined) return known
  const found = protocol === 'https:' ? overTls() : plain()
  made.set(protocol, found)
  return found
}

/** Others have a `process` like Node's, but say who they are here: Deno, Bun, Cloudflare-Workers, a browser. */
function isNode(): boolean {
  const { navigator, process } = globalThis
  return (
    typeof navigator === 'object' &&
    navigator?.userAgent?.startsWith('Node.js/') === true &&
    typeof process?.getBuiltinModule === 'function'
  )
}

function plain(): NodeHttp {
  const module: typeof Http = process.getBuiltinModule('node:http')
  return { module, agent: new module.Agent(OPTIONS) }
}

function overTls(): NodeHttp {
  const module: typeof Https = process.getBuiltinModule('node:https')
  return { module, agent: new module.Agent(OPTIONS) }
}
