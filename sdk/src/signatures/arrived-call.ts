import { type HeaderValues, readHeader } from '../branch/header-values.ts'
import type { ArrivedCall } from './call-verifier.ts'

/** The head of a request that has an absolute URL. */
export function toArrivedCall({
  method,
  url,
  headers,
}: {
  readonly method: string
  readonly url: string
  readonly headers: HeaderValues
}): ArrivedCall {
  // The URL is cut as a text, because parsing could change some characters after they were signed.
  const origin = /^[a-z]+:\/\/[^/?#]*/i.exec(url)?.[0] ?? ''
  return {
    method,
    path: url.slice(origin.length),
    origin: () => origin,
    values: (name) => readValues(headers, name),
  }
}

function readValues(headers: HeaderValues, name: string): readonly string[] {
  const value = readHeader(headers, name)
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.map(String) : []
}
