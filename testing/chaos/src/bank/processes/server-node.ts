import { freePort, startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import type { SecretWatch } from '@counterstep/test-servers/secret-watch'
import type { StoreEdge } from '../stores/store-fixture.ts'
import type { OwnProcess } from './own-process.ts'
import { type ReadServer, serverReader } from './server-reader.ts'
import { startCounterstep } from './start-counterstep.ts'

export interface ServerNodeSpec {
  readonly index: number
  readonly logFolder: string
  readonly store: StoreEdge
  readonly keysFile: string
  readonly watch: SecretWatch
}

/** A real `counterstep serve`, its edge to the clients, and its edge to the store. */
export interface ServerNode {
  readonly process: OwnProcess
  /** Past the proxy: for the harness alone. */
  readonly read: ReadServer
  /** The URL leads through the proxy. */
  readonly url: string
  readonly clientProxy: TcpProxy
  readonly storeProxy?: TcpProxy
}

export async function startServerNode(spec: ServerNodeSpec): Promise<ServerNode> {
  const { index, logFolder, store, keysFile, watch } = spec
  const port = await freePort()
  const directUrl = `http://127.0.0.1:${port}`
  const process = await startCounterstep({ index, logFolder, store, port, flags: { 'keys-file': keysFile } })
  const clientProxy = await startTcpProxy({ host: '127.0.0.1', port })
  return {
    process,
    read: serverReader(directUrl, watch),
    url: `http://127.0.0.1:${clientProxy.port}`,
    clientProxy,
    ...(store.proxy === undefined ? {} : { storeProxy: store.proxy }),
  }
}
