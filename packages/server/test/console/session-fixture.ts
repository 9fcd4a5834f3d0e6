import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  buildLoopbackHostRule,
  createGate,
  createKey,
  type GateSettings,
  type KeyFinder,
  KeyRing,
  readBearerKey,
  revokeKey,
  type Scope,
  Sessions,
} from '@counterstep/access'
import { type Store, StoreUnavailableError } from '@counterstep/core'
import { memoryStore } from '@counterstep/store-conformance'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { buildApp } from '../../src/index.ts'
import { createHeardLog } from '../heard-log.ts'
import { createScriptedEngine } from '../scripted-engine.ts'

export const START_MS = 1_800_000_000_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS

export type Headers = Readonly<Record<string, string>>
type Documents = Pick<Store, 'readDocuments' | 'writeDocument' | 'removeDocument'>

export interface Node {
  readonly app: FastifyInstance
  readonly sessions: Sessions
  readonly log: readonly string[]
}

export interface SessionFixture extends AsyncDisposable {
  /** All nodes read this clock, for instants and for spans. */
  readonly clock: { nowMs: number }
  /** While it is true, no node reaches the store. */
  readonly store: { isAway: boolean; reads: number } & Documents
  readonly key: string
  readonly keyId: string
  readonly keys: KeyFinder
  /** Opens one more node on the same store and keys. */
  openNode(settings?: Partial<GateSettings>): Node
  makeKey(name: string, scopes: readonly Scope[], expiresAt?: number): Promise<{ key: string; id: string }>
  revoke(id: string): Promise<void>
}

/** Opens a store, a file of keys with one key, and no node yet. */
export async function openSessionFixture(
  scopes: readonly Scope[] = ['read', 'operate'],
): Promise<SessionFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-sessions-'))
  const path = join(folder, 'keys.json')
  const clock = { nowMs: START_MS }
  const store = openDocuments()
  const make = (name: string, its: readonly Scope[], expiresAt: number | null) =>
    createKey(path, { name, scopes: its, createdAt: 0, expiresAt })
  const first = await make('ops', scopes, null)
  const ring = await KeyRing.open(path, { onRead: () => undefined, onBroken: () => undefined })
  const consoleFolder = join(folder, 'console')
  const apps: FastifyInstance[] = []
  return {
    clock,
    store,
    key: first.key,
    keyId: first.stored.id,
    keys: ring,
    openNode(settings = {}) {
      const sessions = new Sessions(store, { nowMs: () => clock.nowMs, steadyMs: () => clock.nowMs })
      const { lines, logger } = createHeardLog()
      const gate = createGate({
        keys: ring,
        credentials: readBearerKey,
        sessions,
        hosts: buildLoopbackHostRule([]),
        nowMs: () => clock.nowMs,
        ...settings,
      })
      const engine = createScriptedEngine()
      const app = buildApp({
        engine,
        gate,
        logger,
        logRequests: true,
        console: { directory: () => consoleFolder, sessions },
      })
      apps.push(app)
      return { app, sessions, log: lines }
    },
    async makeKey(name, its, expiresAt) {
      const { key, stored } = await make(name, its, expiresAt ?? null)
      await ring.refresh()
      return { key, id: stored.id }
    },
    async revoke(id) {
      await revokeKey(path, id)
      await ring.refresh()
    },
    async [Symbol.asyncDispose]() {
      for (const app of apps) await app.close()
      ring.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function openDocuments(): SessionFixture['store'] {
  const inner = memoryStore()
  const reach = <Value>(act: () => Promise<Value>): Promise<Value> =>
    store.isAway ? Promise.reject(new StoreUnavailableError('the store is away', { applied: 'no' })) : act()
  const store: SessionFixture['store'] = {
    isAway: false,
    reads: 0,
    readDocuments(category) {
      store.reads += 1
      return reach(() => inner.readDocuments(category))
    },
    writeDocument: (write) => reach(() => inner.writeDocument(write)),
    removeDocument: (removal) => reach(() => inner.removeDocument(removal)),
  }
  return store
}

/** These are the headers that a page of this server sends. */
export const OWN_PAGE: Headers = {
  host: '127.0.0.1:8470',
  origin: 'http://127.0.0.1:8470',
  'sec-fetch-site': 'same-origin',
}

/** A page that has logged in sends these, beside the headers of its place. */
export interface SessionHeaders extends Headers {
  /** The browser adds it. */
  readonly cookie: string
  readonly 'counterstep-console': string
}

export function postLogin(app: FastifyInstance, body: unknown, headers: Headers = OWN_PAGE) {
  const options: InjectOptions = {
    method: 'POST',
    url: '/v1/session',
    headers: { 'content-type': 'application/json', ...headers },
    payload: typeof body === 'string' ? body : JSON.stringify(body),
  }
  return app.inject(options)
}

/** Logs in, and returns the headers with which a page shows its session. */
export async function logIn(
  app: FastifyInstance,
  body: unknown,
  headers: Headers = OWN_PAGE,
): Promise<SessionHeaders> {
  const answer = await postLogin(app, body, headers)
  if (answer.statusCode !== 200) throw new Error(`no login: ${answer.statusCode} ${answer.body}`)
  return toSessionHeaders(readCookie(answer.headers['set-cookie']), answer.json().secret)
}

export function toSessionHeaders(cookie: string, secret: string): SessionHeaders {
  return { cookie, 'counterstep-console': secret }
}

export function readCookie(setCookie: unknown): string {
  const [pair = ''] = String(setCookie).split(';')
  return pair
}

/** Answers the status of a look at the list, and the code if it is refused. */
export async function look(
  app: FastifyInstance,
  session: Headers,
  place: Headers = OWN_PAGE,
): Promise<string> {
  const answer = await app.inject({ url: '/v1/transactions', headers: { ...place, ...session } })
  return answer.statusCode === 200 ? '200' : `${answer.statusCode} ${answer.json().code}`
}
