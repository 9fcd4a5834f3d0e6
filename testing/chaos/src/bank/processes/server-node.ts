import { freePort, startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import type { SecretWatch } from '@counterstep/test-servers/secret-watch'
import type { StoreEdge } from '../stores/store-fixture.ts'
import type { OwnProcess } from './own-process.ts'
import { type ReadServer, serverReader } from './server-reader.ts'
import { startCounterstep } from './start-counterstep.ts'
import { EMBEDDED_PREFIX, startEmbeddingApp } from './start-embedding-app.ts'

export interface ServerNodeSpec {
  readonly index: number
  readonly logFolder: string
  readonly store: StoreEdge
  readonly keysFile: string
  readonly watch: SecretWatch
  /** The server is an app with Counterstep within it, whose functions call this bank. */
  readonly ownBankUrl?: string
}

/** A real `counterstep serve`, or an app with Counterstep within it, its edge to the clients, and its edge to the store. */
export interface ServerNode {
  readonly process: OwnProcess
  /** Past the proxy: for the harness alone. */
  readonly read: ReadServer
  /** The URL leads through the proxy. */
  readonly url: string
  readonly clientProxy: TcpProxy
  /** The paths of its HTTP API begin with it. */
  readonly prefix: string
  readonly storeProxy?: TcpProxy
}

export async function startServerNode(spec: ServerNodeSpec): Promise<ServerNode> {
  const { index, logFolder, store, keysFile, watch, ownBankUrl } = spec
  const port = await freePort()
  const prefix = ownBankUrl === undefined ? '' : EMBEDDED_PREFIX
  const directUrl = `http://127.0.0.1:${port}${prefix}`
  const place = { index, logFolder, store, port }
  const process =
    ownBankUrl === undefined
      ? await startCounterstep({ ...place, flags: { 'keys-file': keysFile } })
      : await startEmbeddingApp({ ...place, keysFile, bankUrl: ownBankUrl })
  const clientProxy = await startTcpProxy({ host: '127.0.0.1', port })
  return {
    process,
    read: serverReader(directUrl, watch),
    url: `http://127.0.0.1:${clientProxy.port}${prefix}`,
    clientProxy,
    prefix,
    ...(store.proxy === undefined ? {} : { storeProxy: store.proxy }),
  }
}
