/**
 * A bank whose web framework is instrumented by OpenTelemetry, as users do it:
 * `node traced-bank.ts express|fastify OTLP-URL`. It prints its URL as JSON.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import { joinTraces } from '@counterstep/sdk/telemetry'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { ExpressInstrumentation } from '@opentelemetry/instrumentation-express'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { NodeSDK } from '@opentelemetry/sdk-node'

const [, , framework = '', otlp = ''] = process.argv
/** Instrumentations look for what is loaded by `require`. */
const require = createRequire(import.meta.url)

const sdk = new NodeSDK({
  serviceName: `bank on ${framework}`,
  traceExporter: new OTLPTraceExporter({ url: `${otlp}/v1/traces` }),
  metricReaders: [],
  instrumentations: [
    new HttpInstrumentation({ disableOutgoingRequestInstrumentation: true }),
    framework === 'express'
      ? new ExpressInstrumentation()
      : new FastifyOtelInstrumentation({ registerOnInitialization: true }),
  ],
})
sdk.start()
joinTraces()

const database = new DatabaseSync(':memory:')
database.exec('CREATE TABLE moves (gid TEXT, op TEXT, cents INTEGER)')
const barrier = sqliteBarrier(database)
migrateBarrier(database)

function move(tx: DatabaseSync, { gid, op, payload }: { gid: string; op: string; payload: unknown }): void {
  const { cents = 0 } = (payload ?? {}) as { readonly cents?: number }
  tx.prepare('INSERT INTO moves (gid, op, cents) VALUES (?, ?, ?)').run(gid, op, cents)
}

async function listenOnExpress(): Promise<Server> {
  const express = require('express') as typeof import('express')
  const { branchHandler } = await import('@counterstep/sdk/express')
  const { BranchFailure } = await import('@counterstep/sdk')
  const app = express().use(express.json({ strict: false }))
  app.post('/move', branchHandler(barrier, move))
  app.post(
    '/refuse',
    branchHandler(barrier, () => {
      throw new BranchFailure('the account is frozen')
    }),
  )
  return createServer(app).listen(0, '127.0.0.1')
}

async function listenOnFastify(): Promise<Server> {
  const { fastify } = require('fastify') as typeof import('fastify')
  const { branchHandler } = await import('@counterstep/sdk/fastify')
  const app = fastify()
  app.post('/move', branchHandler(barrier, move))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

const server = framework === 'express' ? await listenOnExpress() : await listenOnFastify()
if (!server.listening) await once(server, 'listening')
process.stdout.write(
  `${JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })}\n`,
)
process.on('SIGTERM', () => void sdk.shutdown().finally(() => process.exit(0)))
