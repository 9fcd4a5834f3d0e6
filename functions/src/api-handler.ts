import { METHODS } from 'node:http'
import { buildNamedHostRule, createGate, type Gate, KeyRate, readBearerKey } from '@counterstep/access'
import { CounterstepError, isCounterstepError } from '@counterstep/protocol'
import { buildApp, PROBLEM_TYPE, toProblem } from '@counterstep/server'
import { awsLambdaFastify } from '@fastify/aws-lambda'
import type { LambdaContext } from './events.ts'
import type { FunctionParts } from './function-parts.ts'
import { KEYS_RETRY_MS, SecretKeys } from './secret-keys.ts'

/** Its event comes from API Gateway or a Function URL, in payload format 2.0. The adapter reads it. */
export type ApiHandler = (event: unknown, context: LambdaContext) => Promise<unknown>

interface HttpEvent {
  readonly rawPath?: unknown
  readonly httpMethod?: unknown
  readonly requestContext?: { readonly domainName?: string; readonly http?: { readonly method?: unknown } }
}

const WAIT_MS_MAX = 25_000

/**
 * The adapter resolves such a path to another one. Rules in front of the function have judged the path as it was sent,
 * so a request could pass them and reach a route that they forbid.
 */
const CHANGED_PATH = /^(?!\/)|^\/\/|[\\\p{Cc} ]|\/(?:\.|%2e){1,2}(?:\/|$)/iu

/** Creates the native HTTP API behind a Function URL or an HTTP API of AWS (payload format 2.0). */
export async function createApiHandler(parts: FunctionParts): Promise<ApiHandler> {
  const { config, engine, logger, readSecret } = parts
  const { keys: keysArn } = config.secrets
  const keys = keysArn === undefined ? undefined : await SecretKeys.open(keysArn, readSecret, logger)
  const { insecure } = config.access
  const app = buildApp({
    engine,
    // The gateway in front of a function answers by itself after 30 s.
    waitMsMax: WAIT_MS_MAX,
    storeForced: config.store.acceptClassC,
    insecure,
    gate: buildGate(config.access, keys),
    logger,
    // The page of the documentation reads files that are in no bundle.
    page: 'none',
  })
  const answer = awsLambdaFastify(app, { decorateRequest: false, parseCommaSeparatedQueryParams: false })
  await app.ready()
  return async function handle(event, context) {
    const refused = refuseUnreadable(event as HttpEvent)
    if (refused !== undefined) return answerProblem(refused)
    try {
      await keys?.refresh()
    } catch (error: unknown) {
      if (!isCounterstepError(error)) throw error
      return answerProblem(error, { 'retry-after': String(KEYS_RETRY_MS / 1_000) })
    }
    const request = encodePath(event)
    if (isChangedByAdapter(request)) {
      return answerProblem(new CounterstepError('SAGA_ROUTE_UNKNOWN', 'there is nothing at this path'))
    }
    return await engine.during(context.getRemainingTimeInMillis(), () => answer(request, context))
  }
}

/**
 * Refuses what the adapter fails at: a method that Node does not know, and a path with half of a character, which has
 * no bytes.
 */
function refuseUnreadable({ httpMethod, rawPath, requestContext }: HttpEvent): CounterstepError | undefined {
  const method = httpMethod || requestContext?.http?.method
  if (method !== undefined && !METHODS.some((known) => known === method))
    return new CounterstepError('SAGA_METHOD_NOT_ALLOWED', 'there is no such method')
  if (typeof rawPath === 'string' && /\p{Cs}/u.test(rawPath))
    return new CounterstepError('SAGA_ROUTE_UNKNOWN', 'there is nothing at this path')
  return undefined
}

/** Encodes the path that an HTTP API has decoded, because the adapter needs it as it was sent. A Function URL keeps it. */
function encodePath(event: unknown): unknown {
  const { rawPath, requestContext } = event as HttpEvent
  if (typeof rawPath !== 'string' || requestContext?.domainName?.includes('.lambda-url.') === true)
    return event
  return { ...(event as object), rawPath: rawPath.split('/').map(encodeURIComponent).join('/') }
}

function isChangedByAdapter(event: unknown): boolean {
  const { rawPath } = event as HttpEvent
  return typeof rawPath === 'string' && CHANGED_PATH.test(rawPath)
}

/** Builds an answer in the form of the server's own problems, for a request that does not reach the server. */
function answerProblem(error: CounterstepError, headers: Readonly<Record<string, string>> = {}): object {
  const problem = toProblem(error)
  return {
    statusCode: problem.status,
    headers: { 'content-type': PROBLEM_TYPE, ...headers },
    body: JSON.stringify(problem),
  }
}

function buildGate(
  { allowedHosts, ratePerKey }: FunctionParts['config']['access'],
  keys: SecretKeys | undefined,
): Gate {
  return createGate({
    credentials: readBearerKey,
    ...(keys === undefined ? {} : { keys }),
    ...(allowedHosts.length === 0 ? {} : { hosts: buildNamedHostRule(allowedHosts) }),
    ...(ratePerKey === undefined ? {} : { keyRate: new KeyRate(ratePerKey) }),
  })
}
