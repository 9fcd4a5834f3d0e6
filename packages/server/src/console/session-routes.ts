import { type Caller, type Gate, SESSION_MS, type Sessions, writeSessionCookie } from '@counterstep/access'
import type { Logger } from '@counterstep/engine'
import { CounterstepError, type LoginView, type SessionView } from '@counterstep/protocol'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { takeJson } from '../http/json-body.ts'
import { JSON_TYPE } from '../http/json-type.ts'
import { takeNoBody } from '../http/no-body.ts'
import { chooseCookiePath, LOGIN_BYTES_MAX, readLogin } from './login-body.ts'
import { endSessionOperation, getSessionOperation, openSessionOperation } from './session-operations.ts'
import { describeCaller, toSessionView } from './session-view.ts'

export interface SessionDeps {
  readonly gate: Gate
  /** It is absent where no keys are asked for, so that there is nothing to log in with. */
  readonly sessions?: Sessions
  readonly logger: Logger
  readonly handlerTimeoutMs: number
}

export function buildGetSessionRoute(gate: Gate) {
  return async function addGetSessionRoute(app: FastifyInstance): Promise<void> {
    const config = { access: getSessionOperation.access }
    app.get(getSessionOperation.path, { config }, function getSession(request, reply) {
      sendSession(reply, describeCaller(gate, request.raw))
    })
  }
}

export function buildOpenSessionRoute(deps: SessionDeps) {
  const { gate, sessions, logger, handlerTimeoutMs } = deps
  return async function addOpenSessionRoute(app: FastifyInstance): Promise<void> {
    takeJson(app, LOGIN_BYTES_MAX)
    // The body of a login has the key, so it is read before any key is known. It is short, and says its length.
    const config = { access: openSessionOperation.access, openBodyBytesMax: LOGIN_BYTES_MAX }
    const options = { config, handlerTimeout: handlerTimeoutMs }
    app.post(openSessionOperation.path, options, async function openSession(request, reply) {
      const login = readLogin(request.body)
      const path = chooseCookiePath(app.prefix, login.path)
      if (sessions === undefined) return sendSession(reply, describeCaller(gate, request.raw))
      const key = gate.logIn(request.raw, login.key)
      if (key instanceof CounterstepError) throw key
      // The browser tells its own scheme, which a proxy before this server may have ended.
      const place = { isSecure: request.headers.origin?.startsWith('https:') === true, path }
      const { halves, hash, record } = await sessions.open(key.id, login.person, place)
      logger.info({ key: key.id, keyName: key.name, person: login.person }, 'login')
      reply.header('set-cookie', writeSessionCookie(halves.cookie, SESSION_MS / 1000, place))
      return sendSession(reply, {
        ...toSessionView({ key, session: { hash, record } }),
        secret: halves.header,
      })
    })
  }
}

export function buildEndSessionRoute({ gate, sessions, logger, handlerTimeoutMs }: SessionDeps) {
  return async function addEndSessionRoute(app: FastifyInstance): Promise<void> {
    takeNoBody(app)
    const config = { access: endSessionOperation.access }
    const options = { config, handlerTimeout: handlerTimeoutMs }
    app.delete(endSessionOperation.path, options, async function endSession(request, reply) {
      const caller = gate.identify(request.raw)
      if (caller?.session !== undefined) await end(caller, caller.session, reply)
      return sendSession(reply, describeCaller(gate, request.raw))
    })
  }

  async function end(
    { key }: Caller,
    { hash, record }: NonNullable<Caller['session']>,
    reply: FastifyReply,
  ): Promise<void> {
    // The browser forgets it even if the store is away, and so may this node.
    reply.header('set-cookie', writeSessionCookie('', 0, record.place))
    await sessions?.end(hash)
    logger.info({ key: key.id, keyName: key.name, person: record.person }, 'logout')
  }
}

function sendSession(reply: FastifyReply, view: SessionView | LoginView): FastifyReply {
  // It tells who a browser is, or a secret, so that no cache may keep it.
  return reply.headers({ 'content-type': JSON_TYPE, 'cache-control': 'no-store' }).send(JSON.stringify(view))
}
