import { type JsonValue, type OpRequestView, toExactPayload } from '@counterstep/protocol'

/** The texts of the fields of an edit. */
export interface EditTexts {
  readonly url: string
  readonly body: string
  readonly headers: string
  readonly timeoutMs: string
}

export function toEditTexts({ url, body, headers, timeoutMs }: OpRequestView): EditTexts {
  return { url, body, headers: JSON.stringify(headers), timeoutMs: String(timeoutMs) }
}

export interface ReadEdit {
  /** The changed fields, as the command takes them. */
  readonly body: Readonly<Record<string, JsonValue>>
  readonly fault?: string
}

/** Reads what was changed. The server checks the rest, as it checks a submit. */
export function readEdit(current: OpRequestView, texts: EditTexts): ReadEdit {
  const before = toEditTexts(current)
  const body: Record<string, JsonValue> = {}
  if (texts.url !== before.url) body.url = texts.url
  if (texts.timeoutMs !== before.timeoutMs) body.timeoutMs = Number(texts.timeoutMs)
  if (texts.headers !== before.headers) {
    const headers = parse(texts.headers)
    if (headers === undefined) return { body, fault: 'The headers are no JSON object.' }
    body.headers = headers
  }
  if (texts.body !== before.body) {
    if (!current.contentType.startsWith('application/json')) {
      return { body: { ...body, body: texts.body, contentType: current.contentType } }
    }
    if (parse(texts.body) === undefined) return { body, fault: 'The body is no JSON.' }
    const payload = toExactPayload(texts.body)
    if (payload === undefined)
      return { body: { ...body, body: texts.body, contentType: current.contentType } }
    body.payload = payload
  }
  return { body }
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    // A person is still typing. The caller says so.
    return undefined
  }
}
