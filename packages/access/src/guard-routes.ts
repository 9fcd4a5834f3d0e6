import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { type ConnectionBounds, hasLargeBody, readAnnouncedBytes } from './connection-bounds.ts'
import type { Gate, Guard } from './gate.ts'
import type { Stores } from './key-quota.ts'
import { OddRequestError } from './odd-request.ts'
import { tellRetryAfter } from './quota-check.ts'
import { refuseConnection } from './refuse-connection.ts'
import type { RouteAccess } from './scope.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Each route states its access. An app with a route that does not never becomes ready. */
    access?: RouteAccess
    /** A route sets it if it changes something under a method that should not. By default the method decides. */
    changesState?: boolean
    /** A route sets it if it stores something, which counts for the quota of its key. */
    stores?: Stores
    /** A route that is open to all sets it if it takes a body. Such a body is read before any key is known. */
    openBodyBytesMax?: number
  }
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Puts the gate before every route, ahead of its body. Call it before the routes. Each route gets a guard of its own,
 * since reading a request's route builds an object. A refused request ends its connection.
 */
export function guardRoutes(app: FastifyInstance, gate: Gate, bounds: ConnectionBounds): void {
  const guardBuilders: (() => void)[] = []
  app.addHook('onRoute', (route) => {
    let guard: Guard = refuseBeforeReady
    const readsBody = mayHaveBody(route)
    const openBodyBytesMax = route.config?.openBodyBytesMax ?? 0
    function decide(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
      const { raw } = request
      const verdict = refuseBody(raw, guard(raw), readsBody, openBodyBytesMax)
      if (typeof verdict === 'string') {
        if (bounds.trust(raw, verdict, gate)) done()
        else reply.hijack()
        return
      }
      if (verdict !== undefined) refuseConnection(request, reply)
      tellRetryAfter(reply, verdict)
      done(verdict)
    }
    function guardRoute(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
      const finding = gate.findSession?.(request.raw)
      if (finding === undefined) decide(request, reply, done)
      else bounds.waitForSession(request.raw, finding, () => decide(request, reply, done), done)
    }
    route.onRequest = [guardRoute, ...[route.onRequest ?? []].flat()]
    if (readsBody) {
      route.preParsing = [...[route.preParsing ?? []].flat(), bounds.countBody]
      route.preValidation = [bounds.waitForBodyTurn, ...[route.preValidation ?? []].flat()]
    }
    // A route without access throws only here, so that its app fails as a whole when it becomes ready.
    guardBuilders.push(() => {
      guard = gate.buildGuard(readAccess(route), changesState(route), route.config?.stores)
    })
  })
  app.addHook('onReady', (done) => {
    for (const buildGuard of guardBuilders) buildGuard()
    done()
  })
}

/**
 * Refuses a body that the route does not read, and otherwise returns the verdict of the guard. On a route that is open
 * to all, the body would be read before any key. On another route, Node would keep its chunks until the answer is
 * there.
 */
function refuseBody(
  raw: IncomingMessage,
  verdict: ReturnType<Guard>,
  readsBody: boolean,
  openBodyBytesMax: number,
): ReturnType<Guard> | Error {
  const isRefused =
    verdict === undefined
      ? readAnnouncedBytes(raw.headers) > openBodyBytesMax
      : typeof verdict === 'string' && !readsBody && hasLargeBody(raw)
  if (!isRefused) return verdict
  return new OddRequestError(
    openBodyBytesMax === 0 ? 'this route takes no body' : 'the body is too long, or does not say its length',
  )
}

function mayHaveBody({ method }: RouteOptions): boolean {
  return [method].flat().some((each) => !SAFE_METHODS.has(each))
}

function refuseBeforeReady(): never {
  throw new Error('a request came before the app was ready')
}

function readAccess({ method, url, config }: RouteOptions): RouteAccess {
  const access = config?.access
  if (access === undefined) throw new Error(`the route ${String(method)} ${url} does not say who may use it`)
  return access
}

function changesState(route: RouteOptions): boolean {
  return route.config?.changesState ?? mayHaveBody(route)
}
