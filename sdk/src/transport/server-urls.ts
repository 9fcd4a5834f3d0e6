/** The URLs of the servers, at least one, in the order in which they are asked. */
export type ServerUrls = readonly [URL, ...URL[]]

/**
 * Parses the URLs. Throws a TypeError for a URL to which the client could not send, or which would show a login in
 * errors.
 */
export function checkUrls(url: string | URL | readonly (string | URL)[]): ServerUrls {
  const [first, ...others] = typeof url === 'string' || url instanceof URL ? [url] : url
  if (first === undefined) throw new TypeError('url must name at least one server')
  return [checkUrl(first), ...others.map(checkUrl)]
}

function checkUrl(url: string | URL): URL {
  const base = new URL(url)
  if (base.protocol !== 'http:' && base.protocol !== 'https:')
    throw new TypeError('url must be http or https')
  if (base.username !== '' || base.password !== '')
    throw new TypeError('url must have no login: send it in headers')
  return base
}
