import type { InProcessBranch } from '@counterstep/branch-http'
import { counterstep } from '@counterstep/fastify-plugin'
import { openMysqlStore } from '@counterstep/store-mysql'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { fastify } from 'fastify'
import { OWN_BANK } from '../clients/own-bank.ts'
import { LEASE_MS, SERVER_FLAGS, STORE_TIMEOUT_MS } from './server-flags.ts'

// An app that has Counterstep within it, in the place of a server. It has the same settings, and one bank is a service of its own.

/** The one argument, as JSON. */
export interface EmbeddingAppArguments {
  readonly port: number
  /** `sqlite:PATH` or `mysql://…` */
  readonly store: string
  readonly keysFile: string
  /** The bank that functions of this app call. The network before it is hurt, as it is for the others. */
  readonly bankUrl: string
}

const CONNECT_TIMEOUT_MS = 1_000

const { port, store, keysFile, bankUrl } = JSON.parse(process.argv[2] ?? '') as EmbeddingAppArguments

const move: InProcessBranch = async ({ url, headers, payload, signal }) => {
  const response = await fetch(bankUrl + url, {
    method: 'POST',
    headers,
    body: JSON.stringify(payload),
    signal,
  })
  return { answer: { statusCode: response.status, body: await response.text() } }
}

const app = fastify({ logger: { level: 'warn' }, forceCloseConnections: true })
await app.register(counterstep, {
  store: (onEvent) =>
    store.startsWith('sqlite:')
      ? openSqliteStore({ path: store.slice('sqlite:'.length), onEvent })
      : openMysqlStore({
          url: store,
          failover: 'none',
          connectTimeoutMs: CONNECT_TIMEOUT_MS,
          statementTimeoutMs: STORE_TIMEOUT_MS,
          onEvent,
        }),
  targets: 'loopback',
  branches: { [OWN_BANK]: { '/move': move } },
  settings: {
    leaseMs: LEASE_MS,
    pollMs: Number(SERVER_FLAGS['poll-ms']),
    storeTimeoutMs: STORE_TIMEOUT_MS,
    holdMs: Number(SERVER_FLAGS['hold-ms']),
    checkpointMs: Number(SERVER_FLAGS['checkpoint-ms']),
    branchTimeoutMs: Number(SERVER_FLAGS['branch-timeout-ms']),
    retry: {
      initialMs: Number(SERVER_FLAGS['retry-initial-ms']),
      factor: 2,
      capMs: Number(SERVER_FLAGS['retry-cap-ms']),
      jitter: 1,
      limit: null,
    },
    acceptNewKinds: true,
  },
  face: { keysFile },
})
process.once('SIGTERM', () => void app.close())
await app.listen({ host: '127.0.0.1', port })
