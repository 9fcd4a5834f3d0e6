/** The headers of a submit that a call over gRPC carries as metadata. */
import { type Headers, isReservedHeader } from './parse-headers.ts'

// Source: gRPC over HTTP/2, "Custom-Metadata". A name that ends in -bin would carry bytes.
const NAME = /^[0-9a-z_.-]+$/
const VALUE = /^[\x20-\x7e]*$/
const OF_HTTP: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'content-type',
  'http2-settings',
  'te',
  'user-agent',
])

/** Returns what a call over gRPC sends of these headers. Those that belong to gRPC, to HTTP or to the identity of a call are left out. */
export function toMetadata(headers: Headers): readonly (readonly [name: string, value: string])[] {
  return Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !isReservedMetadata(name))
}

/** Returns the name of a header that no call over gRPC can carry. */
export function findBadMetadata(headers: Headers): string | undefined {
  return toMetadata(headers).find(([name, value]) => !NAME.test(name) || !VALUE.test(value))?.[0]
}

function isReservedMetadata(name: string): boolean {
  return /^(?:dtm-|grpc-|:)/.test(name) || OF_HTTP.has(name) || isReservedHeader(name)
}
