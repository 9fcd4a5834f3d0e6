import { buildNamedHostRule, createGate, type Gate, KeyRate, readBearerKey } from '@counterstep/access'
import { CounterstepError, isCounterstepError } from '@counterstep/protocol'
import { buildApp, PROBLEM_TYPE, toProblem } from '@counterstep/server'
import { awsLambdaFastify } from '@fastify/aws-lambda'
import type { LambdaContext } from './events.ts'
import type { Home } from './home.ts'
import { KEYS_RETRY_MS, SecretKeys } from './secret-keys.ts'

/** An event of API Gateway or of a Function URL, payload format 2.0; the adapter reads it. */
export type ApiHandler = (event: unknown, context: LambdaContext) => Promise<unknown>

interface HttpEvent {
  readonly rawPath?: unknown
  readonly requestContext?: { readonly domainName?: string }
}

const WAIT_MS_MAX = 25_000

/** The adapter resolves such a path, so that another one is answered than the one that rules before the function have judged. */
const TURNED_PATH = /^(?!\/)|^\/\/|[\\\p{Cc} ]|\/(?:\.|%2e){1,2}(?:\/|$)/iu

/** The native face behind a Function URL or an HTTP API (payload format 2.0). */
export async function apiHandler(home: Home): Promise<ApiHandler> {
  const { config, engine, store, logger, readSecret } = home
  const { keys: keysArn } = config.secrets
  const keys = keysArn === undefined ? undefined : await SecretKeys.open(keysArn, readSecret, logger)
  const { insecure } = config.access
  const app = buildApp({
    engine,
    // The gateway before a function answers by itself after 30 s.
    waitMsMax: WAIT_MS_MAX,
    storeForced: config.store.acceptClassC,
    insecure,
    gate: gateOf(config.access, keys),
    logger,
    // The plugins of the page read files that no bundle carries.
    page: 'none',
    store,
  })
  const answer = awsLambdaFastify(app, { decorateRequest: false, parseCommaSeparatedQueryParams: false })
  await app.ready()
  return async function handle(event, context) {
    try {
      await keys?.refresh()
    } catch (error: unknown) {
      if (!isCounterstepError(error)) throw error
      return problemAnswer(error, { 'retry-after': String(KEYS_RETRY_MS / 1_000) })
    }
    const request = withPath(event)
    if (isTurned(request)) {
      return problemAnswer(new CounterstepError('SAGA_ROUTE_UNKNOWN', 'there is nothing at this path'))
    }
    return await engine.during(context.getRemainingTimeInMillis(), () => answer(request, context))
  }
}

/** An HTTP API hands over the path decoded, a Function URL as it was sent; the adapter wants the latter. */
function withPath(event: unknown): unknown {
  const { rawPath, requestContext } = event as HttpEvent
  if (typeof rawPath !== 'string' || requestContext?.domainName?.includes('.lambda-url.') === true)
    return event
  return { ...(event as object), rawPath: rawPath.split('/').map(encodeURIComponent).join('/') }
}

function isTurned(event: unknown): boolean {
  const { rawPath } = event as HttpEvent
  return typeof rawPath === 'string' && TURNED_PATH.test(rawPath)
}

/** Answers in the form of the server's own problems, since no request has reached the server. */
function problemAnswer(error: CounterstepError, headers: Readonly<Record<string, string>> = {}): object {
  const problem = toProblem(error)
  return {
    statusCode: problem.status,
    headers: { 'content-type': PROBLEM_TYPE, ...headers },
    body: JSON.stringify(problem),
  }
}

function gateOf({ allowedHosts, ratePerKey }: Home['config']['access'], keys: SecretKeys | undefined): Gate {
  return createGate({
    credentials: readBearerKey,
    ...(keys === undefined ? {} : { keys }),
    ...(allowedHosts.length === 0 ? {} : { hosts: buildNamedHostRule(allowedHosts) }),
    ...(ratePerKey === undefined ? {} : { keyRate: new KeyRate(ratePerKey) }),
  })
}
