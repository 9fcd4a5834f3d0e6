import type { Http2Server, ServerHttp2Stream } from 'node:http2'
import type { Server } from '@grpc/grpc-js'

/** The library has this field, which its types do not show. */
interface Hidden {
  readonly http2Servers?: ReadonlyMap<Http2Server, unknown>
}

/**
 * Keeps from the library the calls that have ended before it sees them. It would answer a call of no service at once, and for an answer to a call that
 * its client has reset Node throws an error, which would end the process. Throws if the library no longer works so.
 */
export function ignoreEndedCalls(server: Server): void {
  const { http2Servers } = server as unknown as Hidden
  const [http2Server] = http2Servers?.keys() ?? []
  const [serve, ...others] = http2Server?.listeners('stream') ?? []
  if (http2Server === undefined || serve === undefined || others.length > 0)
    throw new Error('this version of @grpc/grpc-js takes its calls elsewhere')
  http2Server.removeListener('stream', serve as () => void)
  http2Server.on('stream', (stream: ServerHttp2Stream, ...rest) => {
    if (!stream.destroyed && !stream.closed) serve.call(http2Server, stream, ...rest)
    else stream.on('error', () => undefined)
  })
}
