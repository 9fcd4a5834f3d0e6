import { isRedisScript, type TcpProxy } from '@counterstep/test-servers'

export interface StoreRequests {
  /** Requests that are sent together and answered together count as one. Marks are not counted. */
  readonly roundTrips: number
  /** Counts those of them that write transactions. */
  readonly writes: number
}

/** Counts the requests that pass a proxy to the store while `work` is done. */
export async function countStoreRequests(proxy: TcpProxy, work: () => Promise<void>): Promise<StoreRequests> {
  let [roundTrips, writes] = [0, 0]
  // The listener matches no chunk, so it cuts no connection.
  const listener = proxy.cutBefore((chunk) => {
    if (isMark(chunk)) return false
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

/** A process that writes to Redis also writes a mark each second, however much it writes. */
function isMark(chunk: Buffer): boolean {
  const text = chunk.toString('latin1')
  return text.includes('}:mark:') && text.split(/evalsha/i).length === 2
}

function isSqlWrite(chunk: Buffer): boolean {
  const text = chunk.toString('latin1')
  // A statement with a name is sent whole once, and after that only its name.
  return /(INSERT INTO|UPDATE) counterstep_transactions|counterstep_(creates|updates)\0/.test(text)
}
