import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpBranchCaller } from '@counterstep/branch-http'
import { loopbackTargets, type TargetPolicy } from '@counterstep/branch-http/targets'
import type { CheckUrl, RefuseCall } from '@counterstep/core'
import {
  createEngine,
  DEFAULT_SETTINGS,
  type Engine,
  type EngineEvent,
  type EngineObserver,
  nodeClock,
  nodeIds,
} from '@counterstep/engine'
import { openSqliteStore, type SqliteStore } from '@counterstep/store-sqlite'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import type { FastifyInstance } from 'fastify'
import { buildDtmApp, createDocumentTopicStore, refuseStoredJsonRpc } from '../../src/index.ts'
import { BranchService, type PlayedAnswer, type PlayedBranches } from './branch-service.ts'

export interface DtmNode extends AsyncDisposable {
  readonly app: FastifyInstance
  readonly engine: Engine
  /** Sends a body to one of DTM's POST routes and returns the answer. */
  post(path: string, body: unknown): Promise<Answered>
  get(path: string): Promise<Answered>
}

export interface Answered {
  readonly status: number
  readonly body: string
}

export interface DtmFixture extends AsyncDisposable {
  readonly node: DtmNode
  play(answers?: Readonly<Record<string, readonly PlayedAnswer[]>>): PlayedBranches
  /** Ends the node while its transactions run, so that its store looks as after a crash, and starts another on the file. */
  restart(targets?: Targets): Promise<DtmNode>
  /** Starts another node on the same store. */
  startSecond(): Promise<DtmNode>
  /** Makes the store report from now on, until a restart, that its disk has little room. */
  fillDisk(): void
}

/** A test gives up waiting after this time. It is long, because it only has to tell stuck from slow. */
export const UNTIL_MS_MAX = 20_000

const SETTINGS = { ...DEFAULT_SETTINGS, leaseMs: 2_000, pollMs: 100, acceptNewKinds: true }

const loopback = loopbackTargets()
const onlyLocal: Targets = { policy: loopback, check: (url) => loopback.check(url) }

/** A server has the same rules at submit and at the call. They are apart here, so that a test can remove one of them. */
export interface Targets {
  readonly policy: TargetPolicy
  readonly check: CheckUrl
  /** It is by default the check that a server makes before each call. */
  readonly refuse?: RefuseCall
}

/** Opens the dialect on a real engine with a SQLite file, and services that it calls over HTTP. */
export async function openDtmFixture(targets = onlyLocal): Promise<DtmFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'dtm-fixture-'))
  const service = await BranchService.open()
  const path = join(folder, 'store.db')
  let store = await openSqliteStore({ path })
  let node = await startNode(store, targets)
  const others: DtmNode[] = []
  return {
    get node() {
      return node
    },
    play: (answers) => service.play(answers),
    async startSecond() {
      const other = await startNode(store, targets)
      others.push(other)
      return other
    },
    fillDisk() {
      Object.defineProperty(store, 'isShortOfRoom', { value: true })
    },
    async restart(otherTargets = targets) {
      await node[Symbol.asyncDispose]()
      await store.close()
      store = await openSqliteStore({ path })
      node = await startNode(store, otherTargets)
      return node
    },
    async [Symbol.asyncDispose]() {
      for (const each of [node, ...others]) await each[Symbol.asyncDispose]()
      await store.close()
      await service[Symbol.asyncDispose]()
      await rm(folder, { recursive: true })
    },
  }
}

async function startNode(
  store: SqliteStore,
  { policy, check: checkUrl, refuse: refuseCall = refuseStoredJsonRpc }: Targets,
): Promise<DtmNode> {
  const branches = httpBranchCaller({ targets: policy })
  const ids = nodeIds()
  const failures: Error[] = []
  const watch = new SecretWatch()
  const observer = quietObserver((event) => {
    const { error: _, ...logged } = event
    watch.hear('events', JSON.stringify(logged))
    if (event.level === 'error') failures.push(toFailure(event))
  })
  const engine = createEngine({
    store,
    branches,
    checkUrl,
    refuseCall,
    clock: nodeClock(),
    ids,
    observer,
    settings: SETTINGS,
  })
  await engine.start()
  const topics = createDocumentTopicStore(store, () => ids.writeId())
  const app = buildDtmApp({
    engine,
    topics,
    checkUrl,
    onError: (error) => failures.push(new Error('request-failed', { cause: error })),
  })
  const request = async (method: 'GET' | 'POST', path: string, body?: string): Promise<Answered> => {
    const answer = await app.inject({
      method,
      url: `/api/dtmsvr/${path}`,
      ...(body === undefined ? {} : { payload: body }),
    })
    watch.hear(`answer of ${path}`, answer.body)
    return { status: answer.statusCode, body: answer.body }
  }
  return {
    app,
    engine,
    post: (path, body) => request('POST', path, typeof body === 'string' ? body : JSON.stringify(body)),
    get: (path) => request('GET', path),
    async [Symbol.asyncDispose]() {
      await app.close()
      await engine.close(100)
      await branches.close()
      watch.assertNone()
      if (failures.length > 0) throw new AggregateError(failures, 'a node reported errors')
    },
  }
}

function toFailure({ name, error }: EngineEvent): Error {
  return new Error(name, { cause: error })
}

function quietObserver(event: EngineObserver['event']): EngineObserver {
  const nothing = () => undefined
  return {
    accepted: nothing,
    refused: nothing,
    finished: nothing,
    branchCalled: nothing,
    storeCalled: nothing,
    claimed: nothing,
    event,
  }
}
