import type * as Http from 'node:http'
import type * as Https from 'node:https'

/** Node's HTTP client for one protocol, with the connections that all clients of this process share. */
export interface NodeHttp {
  readonly module: Pick<typeof Http, 'request'>
  readonly agent: Http.Agent
}

/**
 * One origin has at most this many sockets. A further call waits for a socket within its own time limit. A call that
 * waits for the end of a transaction holds a socket.
 */
const SOCKETS_MAX = 1_024
const IDLE_SOCKETS_MAX = 256
/**
 * An idle socket is kept for this long. A server with Node's defaults closes it only after 5 s. A shorter `Keep-Alive`
 * hint is obeyed.
 */
const IDLE_MS = 4_000

const OPTIONS = {
  keepAlive: true,
  maxSockets: SOCKETS_MAX,
  maxFreeSockets: IDLE_SOCKETS_MAX,
  timeout: IDLE_MS,
} as const

// All clients share these, as all callers of `fetch` share its connections. So a program that makes a client for each
// call still gets an open connection.
const made = new Map<string, NodeHttp>()

/**
 * Returns undefined if this is not Node; then the global `fetch` is used. The module `node:http` is asked of the
 * running process and not imported, so that this file can also be loaded and bundled for platforms without it.
 */
export function findNodeHttp(protocol: string): NodeHttp | undefined {
  if (!isNode()) return undefined
  const known = made.get(protocol)
  if (known !== undefined) return known
  const found = protocol === 'https:' ? openTls() : openPlain()
  made.set(protocol, found)
  return found
}

/** Deno, Bun, Cloudflare Workers and browsers may have a `process` like Node's, but they name themselves in `navigator`. */
function isNode(): boolean {
  const { navigator, process } = globalThis
  if (typeof process?.getBuiltinModule !== 'function') return false
  // Node 20 has no navigator yet.
  return navigator === undefined
    ? process.release?.name === 'node'
    : navigator?.userAgent?.startsWith('Node.js/') === true
}

function openPlain(): NodeHttp {
  const module: typeof Http = process.getBuiltinModule('node:http')
  return { module, agent: new module.Agent(OPTIONS) }
}

function openTls(): NodeHttp {
  const module: typeof Https = process.getBuiltinModule('node:https')
  return { module, agent: new module.Agent(OPTIONS) }
}
