const TARGET = /^(\[[0-9a-fA-F:.]+\]|[^/?#:@[\]]+):(\d{1,5})(\/[\w.]+\/\w+)$/
const SCHEME = /^(grpcs?):\/\//

/** The content type of a body that has the bytes of a message of gRPC, in base64. */
export const GRPC_CONTENT_TYPE = 'application/grpc'

export interface GrpcTarget {
  /** An IPv6 address has its brackets. */
  readonly host: string
  readonly port: string
  /** It is `/PACKAGE.SERVICE/METHOD`. */
  readonly path: string
}

/** Reads a branch over gRPC as DTM's clients write it: `bank:58080/bank.Bank/Debit`. */
export function readGrpcTarget(text: string): GrpcTarget | undefined {
  const [, host, port, path] = TARGET.exec(text) ?? []
  return host === undefined || port === undefined || path === undefined ? undefined : { host, port, path }
}

/** Tells whether a stored URL is called over gRPC. With the scheme `grpcs` it is called by TLS. */
export function isGrpcUrl(url: string): boolean {
  return SCHEME.test(url)
}

/** Returns a stored URL as DTM's clients write it. A URL of HTTP stays as it is. */
export function withoutGrpcScheme(url: string): string {
  return url.replace(SCHEME, '')
}
