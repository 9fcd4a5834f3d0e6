import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Gate, Guard } from './gate.ts'
import type { RouteAccess } from './scope.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Each route says it; an app with a route that does not never becomes ready. */
    access?: RouteAccess
    /** For a route that changes something under a method that should not. Default: by the method. */
    changesState?: boolean
  }
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Puts the gate before every route, ahead of its body. Call it before the routes. Each route gets a guard of its own,
 * since reading a request's route builds an object.
 */
export function guardRoutes(app: FastifyInstance, gate: Gate): void {
  const arms: (() => void)[] = []
  app.addHook('onRoute', (route) => {
    let guard: Guard = notReady
    function guardRoute(request: FastifyRequest, _reply: unknown, done: (error?: Error) => void): void {
      done(guard(request.raw))
    }
    route.onRequest = [guardRoute, ...[route.onRequest ?? []].flat()]
    // Later, so that an app with a route that does not say it fails as a whole, when it becomes ready.
    arms.push(() => {
      guard = gate.guardOf(accessOf(route), changesState(route))
    })
  })
  app.addHook('onReady', (done) => {
    for (const arm of arms) arm()
    done()
  })
}

function notReady(): never {
  throw new Error('a request came before the app was ready')
}

function accessOf({ method, url, config }: RouteOptions): RouteAccess {
  const access = config?.access
  if (access === undefined) throw new Error(`the route ${String(method)} ${url} does not say who may use it`)
  return access
}

function changesState({ method, config }: RouteOptions): boolean {
  return config?.changesState ?? [method].flat().some((each) => !SAFE_METHODS.has(each))
}
