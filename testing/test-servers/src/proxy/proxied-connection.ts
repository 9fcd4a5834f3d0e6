import { connect, type Socket } from 'node:net'
import { BytePipe, type PipeRule } from './byte-pipe.ts'
import type { ProxyFaults, TakenFault } from './proxy-fault.ts'
import type { Address } from './tcp-answer.ts'

/** The state that the connections of one proxy share. */
export interface ProxyState {
  readonly faults: ProxyFaults
  readonly pipes: PipeRule
  readonly counts: ProxyCounts
  isBlackHole: boolean
}

/** Counts how often each fault has happened, so that a test can show that it did. */
export interface ProxyCounts {
  /** Counts the connections that clients opened, including the refused ones. */
  connections: number
  refused: number
  /** Counts the connections that `cut` has reset. */
  cut: number
  /** Counts the bytes that were lost in a black hole. */
  swallowedBytes: number
  /** Counts the answers that were lost, also those that would still have come. */
  answersDropped: number
  requestsDropped: number
}

/** One client's connection and its counterpart to the server. */
export class ProxiedConnection {
  readonly #client: Socket
  readonly #server: Socket
  readonly #toServer: BytePipe
  readonly #toClient: BytePipe
  readonly #state: ProxyState
  /** The fault that drops the next answer of the server. */
  #fault: TakenFault | undefined
  /** One side does not know what the other has done, so the connection cannot be used any more. */
  #isBroken = false

  constructor(client: Socket, target: Address, state: ProxyState, onClose: () => void) {
    this.#client = client
    this.#server = connect({ ...target, allowHalfOpen: true, noDelay: true })
    this.#state = state
    this.#toServer = new BytePipe(client, this.#server, state.pipes)
    this.#toClient = new BytePipe(this.#server, client, state.pipes)
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

  /** Is called after a change of the rule of the pipes. */
  move(): void {
    this.#toServer.move()
    this.#toClient.move()
  }

  /** Is called after a black hole. It resets the connection if that has lost bytes, as TCP would do in the end. */
  heal(): void {
    if (this.#isBroken) this.reset()
  }

  /** Sends an RST to both sides, and drops the bytes under way. */
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
    const fault = this.#fault ?? this.#state.faults.take(chunk, this)
    if (fault?.loses === 'request') {
      this.#loseRequest(fault)
      return
    }
    this.#fault = fault
    this.#toServer.send(chunk)
    if (fault?.loses === 'connection') this.#loseAnswer(fault)
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
   * Sends an RST to the client, but an end to the server. With an RST the server could lose requests that it has not read
   * yet, and then the request would be lost and not its answer.
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

  #end(pipe: BytePipe): void {
    if (this.#state.isBlackHole) this.#isBroken = true
    else pipe.send(undefined)
  }

  /** Passes a reset or a refusal on to the other side. In a black hole it does so only when that heals. */
  #sideFailed(): void {
    if (this.#state.isBlackHole) this.#isBroken = true
    else this.reset()
  }
}
