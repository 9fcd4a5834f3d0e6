import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ConnectionBoundLimits,
  ConnectionBounds,
  createGate,
  DEFAULT_CONNECTION_LIMITS,
  type GateSettings,
  readBearerOrBasicKey,
} from '@counterstep/access'
import { branchCaller } from '@counterstep/branch-http'
import { loopbackTargets } from '@counterstep/branch-http/targets'
import { createDialect, createDocumentTopicStore } from '@counterstep/dtm'
import { createEngine, DEFAULT_SETTINGS, type Engine, nodeClock, nodeIds } from '@counterstep/engine'
import { type Gid, isFinalStatus, type TransactionView } from '@counterstep/protocol'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { credentials, type ServiceDefinition } from '@grpc/grpc-js'
import { fromJSON } from '@grpc/proto-loader'
import { vi } from 'vitest'
import { DESCRIPTOR } from '../../src/descriptor.ts'
import { type DtmGrpcDeps, startDtmGrpc } from '../../src/index.ts'
import { DtmClient } from './grpc-service.ts'

/** A test gives up waiting after this time. It is long, because it only has to tell stuck from slow. */
const UNTIL_MS_MAX = 20_000

const SETTINGS = { ...DEFAULT_SETTINGS, leaseMs: 2_000, pollMs: 100, acceptNewKinds: true }

export const DEFINITION = fromJSON(DESCRIPTOR as unknown as Parameters<typeof fromJSON>[0], {
  keepCase: true,
  longs: String,
  enums: String,
  defaults: true,
})

export interface GrpcFixture extends AsyncDisposable {
  readonly engine: Engine
  /** This is HOST:PORT. */
  readonly address: string
  readonly client: DtmClient
  readonly errors: readonly unknown[]
  readonly bounds: ConnectionBounds
  openClient(channel?: ReturnType<typeof credentials.createInsecure>): DtmClient
  /** Resolves when the transaction has ended. */
  untilEnd(gid: string): Promise<TransactionView>
  stop(): Promise<void>
}

export interface FixtureOptions {
  readonly gate?: Partial<GateSettings>
  readonly tls?: DtmGrpcDeps['tls']
  readonly limits?: Partial<ConnectionBoundLimits>
}

/** Opens the gRPC API on a real engine with a SQLite file. */
export async function openGrpcFixture({ gate, tls, limits }: FixtureOptions = {}): Promise<GrpcFixture> {
  const folder = await mkdtemp(join(tmpdir(), 'dtm-grpc-'))
  const store = await openSqliteStore({ path: join(folder, 'store.db') })
  const targets = loopbackTargets()
  const branches = branchCaller({ targets })
  const ids = nodeIds()
  const checkUrl = (url: string) => targets.check(url)
  const nothing = () => undefined
  const observer = {
    accepted: nothing,
    refused: nothing,
    finished: nothing,
    branchCalled: nothing,
    storeCalled: nothing,
    claimed: nothing,
    event: nothing,
  }
  const engine = createEngine({
    ...{ store, branches, checkUrl, ids, observer },
    ...{ clock: nodeClock(), settings: SETTINGS },
  })
  await engine.start()
  const errors: unknown[] = []
  const bounds = new ConnectionBounds({ ...DEFAULT_CONNECTION_LIMITS, ...limits })
  const server = await startDtmGrpc({
    host: '127.0.0.1',
    port: 0,
    tls,
    bounds,
    dialect: createDialect({
      engine,
      topics: createDocumentTopicStore(store, () => ids.writeId()),
      checkUrl,
      checkGrpc: (target) => targets.checkGrpc(target),
    }),
    gate: createGate({ credentials: readBearerOrBasicKey, ...gate }),
    onError: (error) => errors.push(error),
  })
  const address = server.url.replace(/^grpcs?:\/\//, '')
  const service = {
    ...DEFINITION['dtmgimp.Dtm'],
    ...DEFINITION['grpc.health.v1.Health'],
  } as ServiceDefinition
  const openClient = (channel = credentials.createInsecure()) => new DtmClient(address, service, channel)
  const client = openClient()
  return {
    engine,
    address,
    client,
    errors,
    bounds,
    openClient,
    async untilEnd(gid) {
      return await vi.waitFor(
        async () => {
          const view = await engine.get(gid as Gid)
          if (view === undefined || !isFinalStatus(view.status)) throw new Error('it has not ended')
          return view
        },
        { timeout: UNTIL_MS_MAX, interval: 20 },
      )
    },
    stop: () => server.stop(),
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]()
      await server.stop()
      await engine.close(100)
      await branches.close()
      await store.close()
      await rm(folder, { recursive: true })
    },
  }
}
