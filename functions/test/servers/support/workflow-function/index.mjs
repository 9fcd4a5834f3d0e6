import { workflowHandler } from '@counterstep/sdk/fetch'
import { order } from './order.ts'

const answer = workflowHandler([order], { onError: (error) => console.error(error) })

/** Serves the workflow behind a Function URL, payload format 2.0. */
export async function handler({ rawPath, rawQueryString, headers, requestContext, body, isBase64Encoded }) {
  const { domainName, http } = requestContext
  const bytes = body === undefined ? {} : { body: Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8') }
  const url = `https://${domainName}${rawPath}?${rawQueryString}`
  const response = await answer(new Request(url, { method: http.method, headers, ...bytes }))
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  }
}
