import { connect, type Socket } from 'node:net'
import { ByteLane, type LaneRule } from './byte-pipe.ts'
import type { ProxyFaults, TakenFault } from './proxy-fault.ts'
import type { Address } from './tcp-answer.ts'

/** What the connections of one proxy have in common. */
export interface ProxyState {
  readonly faults: ProxyFaults
  readonly lanes: LaneRule
  readonly counts: ProxyCounts
  isBlackHole: boolean
}

/** How often each fault bit, so that a test can show that it did. */
export interface ProxyCounts {
  /** Connections that clients opened, the refused ones included. */
  connections: number
  refused: number
  /** Connections that `cut` has reset. */
  cut: number
  /** In a black hole. */
  swallowedBytes: number
  answersDropped: number
  requestsDropped: number
}

/** One client's connection and its counterpart to the server. */
export class ProxiedConnection {
  readonly #client: Socket
  readonly #server: Socket
  readonly #toServer: ByteLane
  readonly #toClient: ByteLane
  readonly #state: ProxyState
  /** The server owes the answer that this fault drops. */
  #fault: TakenFault | undefined
  /** One side does not know what the other did: nothing sensible can follow on this connection. */
  #isBroken = false

  constructor(client: Socket, target: Address, state: ProxyState, onClose: () => void) {
    this.#client = client
    this.#server = connect({ ...target, allowHalfOpen: true, noDelay: true })
    this.#state = state
    this.#toServer = new ByteLane(client, this.#server, state.lanes)
    this.#toClient = new ByteLane(this.#server, client, state.lanes)
    client.on('data', (chunk) => this.#fromClient(chunk))
    client.on('end', () => this.#end(this.#toServer))
    client.on('error', () => this.#sideFailed())
    this.#server.on('data', (chunk) => this.#fromServer(chunk))
    this.#server.on('end', () => this.#end(this.#toClient))
    this.#server.on('error', () => this.#sideFailed())
    const closed = () => {
      if (client.closed && this.#server.closed) onClose()
    }
    client.on('close', closed)
    this.#server.on('close', closed)
  }

  /** To be called when the rule of the lanes has changed. */
  move(): void {
    this.#toServer.move()
    this.#toClient.move()
  }

  /** After a black hole: as TCP would in the end, gives up what lost bytes. */
  heal(): void {
    if (this.#isBroken) this.reset()
  }

  /** Both sides get an RST, and what is under way is lost. */
  reset(): void {
    this.#toServer.drop()
    this.#toClient.drop()
    this.#client.resetAndDestroy()
    this.#server.resetAndDestroy()
  }

  #fromClient(chunk: Buffer): void {
    if (this.#state.isBlackHole) {
      this.#swallow(chunk)
      return
    }
    const fault = this.#fault ?? this.#state.faults.take(chunk)
    if (fault?.loses === 'request') {
      this.#loseRequest(fault)
      return
    }
    this.#fault = fault
    this.#toServer.send(chunk)
  }

  #fromServer(chunk: Buffer): void {
    if (this.#state.isBlackHole) this.#swallow(chunk)
    else if (this.#fault === undefined) this.#toClient.send(chunk)
    else if (!this.#client.destroyed) this.#loseAnswer(this.#fault)
  }

  #loseRequest(fault: TakenFault): void {
    this.reset()
    this.#state.counts.requestsDropped += 1
    fault.bite()
  }

  /**
   * The client gets an RST. The server gets an end instead: an RST could take from it requests that it has not yet read,
   * and then the request would be lost, not its answer.
   */
  #loseAnswer(fault: TakenFault): void {
    this.#toClient.drop()
    this.#client.resetAndDestroy()
    this.#toServer.send(undefined)
    this.#state.counts.answersDropped += 1
    fault.bite()
  }

  #swallow(chunk: Buffer): void {
    this.#state.counts.swallowedBytes += chunk.length
    this.#isBroken = true
  }

  #end(lane: ByteLane): void {
    if (this.#state.isBlackHole) this.#isBroken = true
    else lane.send(undefined)
  }

  /** Reset or refused: passed on to the other side, out of a black hole only when it heals. */
  #sideFailed(): void {
    if (this.#state.isBlackHole) this.#isBroken = true
    else this.reset()
  }
}
