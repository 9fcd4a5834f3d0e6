import type { IncomingHttpHeaders } from 'node:http'
import type { HostRule } from './host-rule.ts'

interface ChangingRequest {
  readonly method?: string | undefined
  readonly headers: IncomingHttpHeaders
}

/**
 * Whether a page of another origin may be what sends this, which changes something. Programs say nothing of the kind,
 * and pass. Both headers are asked, since an older browser sends only the first, and a GET for an image only the second.
 * No page changes anything by opening a URL, not even one of this server.
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
  // With any other method a browser sends an Origin.
  if (!isRead) return false
  if (referer !== undefined && isForeign(referer, host, hosts)) return true
  // To plain http beyond loopback no browser sends Sec-Fetch-Site, and a page may have it leave out the Referer.
  return site === undefined && looksLikeBrowser(headers)
}

/** Whether an address bar, a link in a mail, a frame, an image or a prefetch asks, and not a script of a page. */
function isNavigation(headers: IncomingHttpHeaders): boolean {
  const { 'sec-fetch-mode': mode = '', 'sec-fetch-dest': destination = 'empty' } = headers
  if (mode.includes('navigate') || destination !== 'empty') return true
  return headers['sec-fetch-user'] !== undefined || headers['sec-purpose'] !== undefined
}

function isForeign(pageUrl: string, host: string, hosts: HostRule | undefined): boolean {
  const page = URL.parse(pageUrl)
  // `Origin: null` is a page of nowhere.
  if (page === null || page.host === '') return true
  // By the page's scheme, whose port a browser leaves out; ours may be another behind a proxy that ends TLS.
  if (URL.parse(`${page.protocol}//${host}`)?.host === page.host) return false
  return hosts?.names(page.host) !== true
}

function looksLikeBrowser({
  'user-agent': agent = '',
  'accept-language': language,
}: IncomingHttpHeaders): boolean {
  // Node's fetch sends the language `*`. A page may set that too, but not its browser's name.
  return agent.startsWith('Mozilla/') || (language !== undefined && language !== '*')
}
