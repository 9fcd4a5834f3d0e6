import { freePort, isHttpPost, startTcpProxy, type TcpProxy } from '@counterstep/test-servers'
import type { OwnProcess } from '../bank/processes/own-process.ts'
import { startCounterstep } from '../bank/processes/start-counterstep.ts'
import type { SeededRandom } from '../bank/seeded-random.ts'
import type { StoreEdge } from '../bank/stores/store-fixture.ts'

const ANSWERS_LOST = 0.03

export interface DtmServer {
  readonly process: OwnProcess
  /** DTM's API past the proxy, for the run itself. */
  readonly directUrl: string
  /** The same through the proxy. */
  readonly url: string
  readonly proxy: TcpProxy
}

export interface DtmServerSpec {
  readonly index: number
  readonly logFolder: string
  readonly store: StoreEdge
  readonly random: SeededRandom
  readonly hasHealed: () => boolean
}

/** Starts a real `counterstep serve` with DTM's API, before which some answers get lost. */
export async function startDtmServer(spec: DtmServerSpec): Promise<DtmServer> {
  const { index, logFolder, store, random, hasHealed } = spec
  const [port, dtmPort] = [await freePort(), await freePort()]
  const process = await startCounterstep({ index, logFolder, store, port, flags: { 'dtm-port': dtmPort } })
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: dtmPort })
  proxy.dropAnswerWhen(
    (chunk) => isHttpPost(chunk, '/api/dtmsvr/') && !hasHealed() && random.chance(ANSWERS_LOST),
    Number.POSITIVE_INFINITY,
  )
  return {
    process,
    directUrl: `http://127.0.0.1:${dtmPort}`,
    url: `http://127.0.0.1:${proxy.port}`,
    proxy,
  }
}
