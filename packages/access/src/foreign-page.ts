import type { IncomingHttpHeaders } from 'node:http'
import { HOST_CHARACTERS_MAX, type HostRule } from './host-rule.ts'

interface ChangingRequest {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
}

/**
 * Tells whether this request, which changes something, may come from a page of another origin. Programs send none of
 * these headers and pass. Both Origin and Sec-Fetch-Site are checked, since an older browser sends only the first, and
 * a GET for an image only the second. No page changes anything by opening a URL, not even a page of this server.
 */
export function isFromForeignPage(
  { method, headers }: ChangingRequest,
  hosts: HostRule | undefined,
): boolean {
  const { origin, referer, host = '', 'sec-fetch-site': site } = headers
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  const isRead = method === 'GET' || method === 'HEAD'
  if (isRead && isNavigation(headers)) return true
  if (origin !== undefined) return isForeign(origin, host, hosts)
  // A browser sends an Origin with every other method.
  if (!isRead) return false
  if (referer !== undefined && isForeign(referer, host, hosts)) return true
  // Browsers send no Sec-Fetch-Site to plain http beyond loopback, and a page may make its browser leave out the
  // Referer.
  return site === undefined && looksLikeBrowser(headers)
}

/**
 * Tells whether a request that a session authorises may come from a script of another origin. Such a request always
 * comes from a script, because it has a header that only a script can set.
 */
export function isFromForeignScript({ headers }: ChangingRequest, hosts: HostRule | undefined): boolean {
  const { origin, host = '', 'sec-fetch-site': site } = headers
  if (site !== undefined && site !== 'same-origin') return true
  return origin !== undefined && isForeign(origin, host, hosts)
}

/**
 * Tells whether an address bar, a link in a mail, a frame, an image or a prefetch makes the request, and not a script
 * of a page.
 */
function isNavigation(headers: IncomingHttpHeaders): boolean {
  const { 'sec-fetch-mode': mode = '', 'sec-fetch-dest': destination = 'empty' } = headers
  if (mode.includes('navigate') || destination !== 'empty') return true
  return headers['sec-fetch-user'] !== undefined || headers['sec-purpose'] !== undefined
}

function isForeign(pageUrl: string, host: string, hosts: HostRule | undefined): boolean {
  // A Referer has a path and a query, which may be long.
  const origin = /^https?:\/\/[^/?#]*/i.exec(pageUrl)?.[0] ?? ''
  if (origin.length > HOST_CHARACTERS_MAX || host.length > HOST_CHARACTERS_MAX) return true
  const page = URL.parse(origin)
  // `Origin: null` names no page that could be compared.
  if (page === null || page.host === '') return true
  // The Host is read with the page's scheme, since a browser leaves out the port of that scheme. Our own scheme may be
  // another one behind a proxy that ends TLS.
  if (URL.parse(`${page.protocol}//${host}`)?.host === page.host) return false
  return hosts?.names(page.host) !== true
}

function looksLikeBrowser({
  'user-agent': agent = '',
  'accept-language': language,
}: IncomingHttpHeaders): boolean {
  // Node's fetch sends the language `*`. A page may set that too, but it cannot change its browser's name.
  return agent.startsWith('Mozilla/') || (language !== undefined && language !== '*')
}
