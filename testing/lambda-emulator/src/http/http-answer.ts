import { answerBadGateway, type HttpEndpoint, type PlainAnswer } from './http-endpoint.ts'

/** Reads the function's JSON as an answer. If it has no `statusCode`, the whole JSON is the body. */
export function toHttpAnswer(payload: string, endpoint: HttpEndpoint): PlainAnswer {
  const answer: unknown = JSON.parse(payload)
  if (!isObject(answer) || answer.statusCode === undefined) {
    return { status: 200, headers: [['content-type', 'application/json']], body: payload }
  }
  const { statusCode, headers = {}, cookies = [], body = '', isBase64Encoded = false } = answer
  const status = Number(statusCode)
  const isWellFormed =
    Number.isInteger(status) &&
    status >= 100 &&
    status <= 599 &&
    isObject(headers) &&
    Array.isArray(cookies) &&
    typeof body === 'string'
  if (!isWellFormed) return answerBadGateway(endpoint)
  return {
    status,
    headers: [
      ...Object.entries(headers).map(([name, value]): [string, string] => [
        name.toLowerCase(),
        String(value),
      ]),
      ...cookies.map((cookie): [string, string] => ['set-cookie', String(cookie)]),
    ],
    body: isBase64Encoded === true ? Buffer.from(body, 'base64') : body,
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
