/** Reads the values back from a request that was built from a template of a plan. */
import type { RequestTemplate, ValueReference } from '@counterstep/core'
import type { SentRequest } from '../branches/call-request.ts'
import type { Place, PlannedRequest } from './usable-values.ts'

export interface ShownValue {
  readonly reference: ValueReference
  readonly place: Place
  /** The JSON in a body, and the plain text in a URL or a header. Absent: the header is not there. */
  readonly text: string | undefined
}

const PLACE = /\{(\w+)\}/

/** Returns undefined for a request that has other fixed parts than the planned one. */
export function readShownValues(planned: PlannedRequest, request: SentRequest): ShownValue[] | undefined {
  const { body = [], headers = {} } = planned.template
  const inUrl = readUrl(planned, request.url)
  const inBody = readJson(body, request.body)
  const names = [...Object.keys(planned.headers), ...Object.keys(headers)]
  const hasFixedHeaders = Object.entries(planned.headers).every(
    ([name, text]) => request.headers[name] === text,
  )
  const hasOthers = Object.keys(request.headers).some((name) => !names.includes(name))
  if (inUrl === undefined || inBody === undefined || !hasFixedHeaders || hasOthers) return undefined
  const inHeaders = Object.entries(headers).map(
    ([name, reference]): ShownValue => ({ reference, place: 'header', text: request.headers[name] }),
  )
  return [...inUrl, ...inBody, ...inHeaders]
}

function readUrl({ url, template }: PlannedRequest, shown: string): ShownValue[] | undefined {
  const [path = ''] = url.split('?')
  const pieces = url.split(PLACE)
  const texts = readBetween(
    pieces.filter((_, index) => index % 2 === 0),
    shown,
  )
  return texts?.flatMap((text, index) => {
    const name = pieces[2 * index + 1] ?? ''
    const reference = template.url?.[name]
    const place = path.includes(`{${name}}`) ? 'path' : 'query'
    return reference === undefined ? [] : [{ reference, place, text: decodeURIComponent(text) } as const]
  })
}

function readJson(template: NonNullable<RequestTemplate['body']>, shown: string): ShownValue[] | undefined {
  const fixed = template.filter((piece) => typeof piece === 'string')
  const references = template.filter((piece) => typeof piece !== 'string')
  const texts = readBetween(fixed, shown)
  return texts === undefined || texts.length < references.length
    ? undefined
    : references.map((reference, index) => ({ reference, place: 'body', text: texts[index] }))
}

/** Reads what stands between fixed texts. No planned value has such a text in it. */
function readBetween([first = '', ...others]: readonly string[], shown: string): string[] | undefined {
  if (!shown.startsWith(first)) return undefined
  const found: string[] = []
  let from = first.length
  for (const [index, text] of others.entries()) {
    const isLast = index === others.length - 1
    const to = isLast ? shown.length - text.length : shown.indexOf(text, from)
    if (to < from || !shown.startsWith(text, to)) return undefined
    found.push(shown.slice(from, to))
    from = to + text.length
  }
  return from === shown.length ? found : undefined
}
