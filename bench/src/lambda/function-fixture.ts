/** The three bundles on one store, with nothing between them but the emulated runtime. */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  buildBundles,
  type InvocationReport,
  installRuntimeClient,
  type LambdaFunction,
  startFunction,
} from '@counterstep/lambda-emulator'
import { startMariadb, startRedis, startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { createConnection } from 'mysql2/promise'

const TOOL_MS_MAX = 120_000
const TIMEOUT_MS = 29_000

export interface FunctionFixture {
  readonly functions: Readonly<Record<'api' | 'worker' | 'sweeper', LambdaFunction>>
  readonly branchUrl: string
  /** Counts the packets that the functions have sent to the store. */
  sent(): number
  stop(): Promise<void>
}

export async function startFunctionFixture(
  store: 'mysql' | 'redis',
  onReport: (report: InvocationReport) => void,
): Promise<FunctionFixture> {
  const client = await installRuntimeClient()
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-lambda-bench-'))
  await buildBundles(folder)
  const server = store === 'mysql' ? await startMariadb() : await startRedis()
  const url = store === 'mysql' ? await migrated(server.url) : server.url
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: server.port })
  const sent = countPackets(proxy)
  const branches = await startBranches()
  const branchUrl = `http://127.0.0.1:${(branches.address() as AddressInfo).port}`
  const launch = (name: string) =>
    startFunction(client, {
      name,
      taskRoot: join(folder, name),
      handler: 'index.handler',
      variables: {
        COUNTERSTEP_STORE: proxy.through(url),
        COUNTERSTEP_AUTHORIZER: 'iam',
        COUNTERSTEP_ALLOW_TARGETS: branchUrl,
        COUNTERSTEP_LOG_LEVEL: 'error',
      },
      memoryMb: 512,
      timeoutMs: TIMEOUT_MS,
      initTimeoutMs: TIMEOUT_MS,
      reservedConcurrency: 1,
      logFolder: folder,
      onReport,
    })
  const functions = { api: launch('api'), worker: launch('worker'), sweeper: launch('sweeper') }
  return {
    functions,
    branchUrl,
    sent,
    async stop() {
      for (const each of Object.values(functions)) await each.stop()
      branches.closeAllConnections()
      branches.close()
      await proxy.close()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function countPackets(proxy: TcpProxy): () => number {
  let packets = 0
  proxy.cutBefore(() => {
    packets += 1
    return false
  }, Number.POSITIVE_INFINITY)
  return () => packets
}

async function migrated(serverUrl: string): Promise<string> {
  const connection = await createConnection(serverUrl)
  await connection.query('CREATE DATABASE counterstep')
  await connection.end()
  const url = `${serverUrl}/counterstep`
  await promisify(execFile)(process.execPath, [COUNTERSTEP_PROGRAM, 'migrate', '--store', url], {
    timeout: TOOL_MS_MAX,
  })
  return url
}

/** Services that succeed at once. */
function startBranches(): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.end('{}'))
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}
