import type { IncomingHttpHeaders } from 'node:http'

/** Describes a request before its body is there. */
export interface RequestHead {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly socket: { readonly remoteAddress?: string | undefined }
}
