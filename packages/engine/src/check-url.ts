import type { CheckUrl } from '@counterstep/core'

const REMEMBERED_MAX = 1_000
/** What we add to the query ourselves. Given twice, a service would refuse the call, for ever. */
const RESERVED_PARAMETERS = ['gid', 'trans_type', 'branch_id', 'op']

/** Only http and https, no user info, no fragment. Remembers what it has seen, since services are called again and again. */
export function urlChecker(): CheckUrl {
  const good = new Set<string>()
  return (url) => {
    if (good.has(url)) return undefined
    const refusal = refuse(url)
    if (refusal !== undefined) return refusal
    if (good.size >= REMEMBERED_MAX) good.clear()
    good.add(url)
    return undefined
  }
}

function refuse(text: string): string | undefined {
  // The parser drops tabs and line breaks and turns backslashes: what is called must be what was written.
  if (!/^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i.test(text)) return 'must be an absolute http or https URL'
  const url = URL.parse(text)
  if (url === null) return 'is not a URL'
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or password'
  if (text.includes('#')) return 'must not have a fragment'
  const reserved = RESERVED_PARAMETERS.find((name) => url.searchParams.has(name))
  if (reserved !== undefined) return `must not have a query parameter ${reserved}`
  return undefined
}
