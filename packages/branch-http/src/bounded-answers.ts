import type { Socket } from 'node:net'
import type { buildConnector } from 'undici'
import { boundFields } from './field-bound.ts'
import { boundPieces } from './piece-bound.ts'
import { boundReading, type OriginReads } from './reading-time.ts'
import { boundWaste } from './waste-bound.ts'

/** Returns a connector like the given one, which bounds what the answers take on each connection that it makes. */
export function boundAnswers(
  connect: buildConnector.connector,
  reads: OriginReads,
): buildConnector.connector {
  return function connectBounded(options, callback) {
    return connect(options, (...connected) => {
      callback(...connected)
      // undici has made its parser meanwhile, unless it has given the connection up.
      const [, made] = connected
      if (made?.destroyed !== false) return
      tellResets(made)
      boundPieces(made)
      boundFields(made)
      boundWaste(made)
      boundReading(made, reads)
    })
  }
}

/**
 * undici takes a reset for the end of an answer whose head does not say where it ends, or says that the connection closes: a service that dies in
 * the middle of a FAILURE would have answered a success. Under another code it is an error, as after any other answer.
 */
function tellResets(socket: Socket): void {
  socket.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') error.code = 'COUNTERSTEP_RESET'
  })
}
