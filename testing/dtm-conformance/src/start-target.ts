import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@counterstep/test-servers'
import { createConnection } from 'mysql2/promise'
import type { Databases } from './databases.ts'
import type { StoreName } from './settings.ts'
import { startServer } from './start-server.ts'

/** An orchestrator that speaks DTM's dialect. */
export interface Target {
  readonly name: string
  /** Ends in /api/dtmsvr. */
  readonly url: string
  /** The host and the port of its gRPC API. */
  readonly grpc: string
  readonly stop: () => Promise<void>
}

/** Starts a Counterstep server on that store, with the dialect on a free port. */
export async function startTarget(store: StoreName, databases: Databases): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-conformance-'))
  const place = await openPlace(store, databases)
  const server = await startServer(folder, place.url)
  return {
    name: store,
    url: `${server.dtmUrl}/api/dtmsvr`,
    grpc: server.dtmGrpcUrl.replace('grpc://', ''),
    stop: async () => {
      await server.stop()
      await place.stop?.()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

interface StorePlace {
  /** Undefined: the file in the server's folder. */
  readonly url?: string | undefined
  /** Stops a server that no program has accounts on. */
  readonly stop?: () => Promise<void>
}

async function openPlace(store: StoreName, { mysqlUrl, redisUrl }: Databases): Promise<StorePlace> {
  switch (store) {
    case 'sqlite':
      return {}
    case 'mysql':
      return { url: await newSqlDatabase(mysqlUrl, 'counterstep_conformance') }
    case 'postgres':
      return await startPostgres()
    case 'redis':
      return { url: redisUrl }
  }
}

/** DTM's own port for gRPC. */
const DTM_GRPC_PORT = 36_790

/** A target that another program has started and will stop. */
export function runningTarget(url: string, grpc: string | undefined): Target {
  const { host, hostname } = new URL(url)
  return { name: host, url, grpc: grpc ?? `${hostname}:${DTM_GRPC_PORT}`, stop: async () => undefined }
}

/** A fresh database on that server; its URL. `name` is one of ours, not quoted. */
async function newSqlDatabase(serverUrl: string, name: string): Promise<string> {
  const connection = await createConnection({ uri: serverUrl, multipleStatements: true })
  try {
    await connection.query(`DROP DATABASE IF EXISTS ${name}; CREATE DATABASE ${name}`)
  } finally {
    await connection.end()
  }
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
