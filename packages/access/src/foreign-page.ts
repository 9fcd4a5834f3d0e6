import type { IncomingHttpHeaders } from 'node:http'
import type { HostRule } from './host-rule.ts'

/**
 * Whether a browser says that a page of another origin sends this. Programs say nothing of the kind, and pass. Both
 * headers are asked, since an older browser sends only the first, and a GET for an image only the second.
 */
export function isFromForeignPage(headers: IncomingHttpHeaders, hosts: HostRule | undefined): boolean {
  const { origin, host = '', 'sec-fetch-site': site } = headers
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true
  if (origin === undefined) return false
  const page = URL.parse(origin)
  // `Origin: null` is a page of nowhere.
  if (page === null || page.host === '') return true
  // By the page's scheme, whose port a browser leaves out; ours may be another behind a proxy that ends TLS.
  if (URL.parse(`${page.protocol}//${host}`)?.host === page.host) return false
  return hosts?.names(page.host) !== true
}
