import type { buildConnector } from 'undici'
import { boundFields } from './field-bound.ts'
import { boundPieces } from './piece-bound.ts'
import { boundReading, type OriginReads } from './reading-time.ts'

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
      boundPieces(made)
      boundFields(made)
      boundReading(made, reads)
    })
  }
}
