import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import type { Databases } from './databases.ts'
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

export const STORES = ['sqlite', 'mysql', 'redis'] as const

export type StoreName = (typeof STORES)[number]

/** Starts a Counterstep server on that store, with the dialect on a free port. */
export async function startTarget(store: StoreName, databases: Databases): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-conformance-'))
  const place = await findPlace(store, databases)
  const server = await startServer(folder, place)
  return {
    name: store,
    url: `${server.dtmUrl}/api/dtmsvr`,
    grpc: server.dtmGrpcUrl.replace('grpc://', ''),
    stop: async () => {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Undefined: the file in the server's folder. */
async function findPlace(store: StoreName, { mysqlUrl, redisUrl }: Databases): Promise<string | undefined> {
  switch (store) {
    case 'sqlite':
      return undefined
    case 'mysql':
      return await newSqlDatabase(mysqlUrl, 'counterstep_conformance')
    case 'redis':
      return redisUrl
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
