import { isRedisScript, type TcpProxy } from '@counterstep/test-servers'

export interface StoreRequests {
  /** What was sent at once and answered at once. */
  readonly roundTrips: number
  /** Of them, those that write transactions. */
  readonly writes: number
}

/** What passes a proxy to the store while `work` is done. */
export async function countStoreRequests(proxy: TcpProxy, work: () => Promise<void>): Promise<StoreRequests> {
  let [roundTrips, writes] = [0, 0]
  // It matches nothing, so it cuts nothing.
  const listener = proxy.cutBefore((chunk) => {
    roundTrips += 1
    if (isRedisScript(chunk) || isSqlWrite(chunk)) writes += 1
    return false
  })
  try {
    await work()
  } finally {
    listener.cancel()
  }
  return { roundTrips, writes }
}

function isSqlWrite(chunk: Buffer): boolean {
  return /(INSERT INTO|UPDATE) counterstep_transactions/.test(chunk.toString('latin1'))
}
