import type { CheckUrl } from '@counterstep/core'

const REMEMBERED_MAX = 1_000
/** What we add to the query ourselves. Given twice, a service would refuse the call, for ever. */
const RESERVED_PARAMETERS = ['gid', 'trans_type', 'branch_id', 'op']

/** The host's check, and our own of the query. Remembers what it has seen, since services are called again and again. */
export function urlChecker(checkTarget: CheckUrl): CheckUrl {
  const good = new Set<string>()
  return (url) => {
    if (good.has(url)) return undefined
    const refusal = checkTarget(url) ?? refuseReserved(url)
    if (refusal !== undefined) return refusal
    if (good.size >= REMEMBERED_MAX) good.clear()
    good.add(url)
    return undefined
  }
}

function refuseReserved(url: string): ReturnType<CheckUrl> {
  const start = url.indexOf('?')
  if (start < 0) return undefined
  const parameters = new URLSearchParams(url.slice(start))
  const reserved = RESERVED_PARAMETERS.find((name) => parameters.has(name))
  if (reserved === undefined) return undefined
  return { code: 'SAGA_URL_INVALID', message: `must not have a query parameter ${reserved}` }
}
