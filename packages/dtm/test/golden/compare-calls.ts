import type { GoldenCall } from './golden-case.ts'
import { fill, type Values } from './placeholders.ts'

/** No service of DTM reads these headers: they belong to the connection, to DTM's own client, or only to Counterstep. */
const NOT_COMPARED =
  /^(?:user-agent|content-length|transfer-encoding|accept-encoding|host|connection|referer|counterstep-.*)$/

/**
 * Writes a call as the service understands it. The order of the query's parameters and of the headers means nothing, nor
 * does the content type of a call without content.
 */
export function normalizeCall({ method, target, headers, body }: GoldenCall, values: Values): string {
  const [path = '', query = ''] = fill(target, values).split('?', 2)
  const parameters = [...new URLSearchParams(query)].map(([name, value]) => `${name}=${value}`).sort()
  const kept = headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !NOT_COMPARED.test(name) && !(method === 'GET' && name === 'content-type'))
    .map(([name, value]) => `${name}: ${fill(value, values)}`)
    .sort()
  return [`${method} ${decodeURI(path)}?${parameters.join('&')}`, ...kept, fill(body, values)].join('\n')
}

export function normalizeCalls(
  calls: readonly GoldenCall[],
  values: Values,
  { order, repeats }: { readonly order?: 'any'; readonly repeats?: 'any' },
): readonly string[] {
  const all = calls.map((call) => normalizeCall(call, values))
  const list = repeats === 'any' ? all.filter((call, position) => call !== all[position - 1]) : all
  return order === 'any' ? list.toSorted() : list
}
