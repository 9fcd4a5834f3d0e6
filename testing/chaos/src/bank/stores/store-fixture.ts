import type { RequestTrigger, TcpProxy } from '@counterstep/test-servers'
import type { BankBooks } from '../evidence.ts'
import type { StoreBooks } from '../rows/store-books.ts'

/** The databases in which the servers of a run keep their transactions, and the banks their money. */
export interface StoreFixture {
  /** How many servers share it. */
  readonly servers: number
  /** The flags of one server. Where there is a network to the store, a proxy of this server's own is in it. */
  edge(index: number): Promise<StoreEdge>
  /** Whether these bytes to the store ask for something whose outcome is in doubt if no answer comes. */
  readonly isCommit?: RequestTrigger
  /** A database server that can be hurt; an embedded store has none. */
  readonly server?: HurtServer
  /** Bounds the connections of all clients together; absent where the store has no such bound. */
  allowConnections?(max: number): Promise<void>
  /** The most connections at one time since the start; absent where the store does not count them. */
  connectionsMost?(): Promise<number>
  bankDatabase(index: number): Promise<string>
  /** Reads the books of servers and banks that have stopped. */
  readStore(): Promise<StoreBooks>
  readBank(index: number): Promise<BankBooks>
  stop(): Promise<void>
}

export interface StoreEdge {
  readonly flags: Readonly<Record<string, string | number>>
  readonly proxy?: TcpProxy
}

export interface HurtServer {
  kill(): Promise<void>
  restart(): Promise<void>
  pause(): Promise<void>
  resume(): Promise<void>
}
