import { Agent, request } from 'undici'

const HEADERS = { 'content-type': 'application/json' }
const SUCCESS = 200

/** Each call has a connection of its own, as in the relay. */
const dispatcher = new Agent({ pipelining: 1 })

/** Throws unless the branch answers that it has succeeded. */
export async function callBranch(url: string, payload: unknown): Promise<void> {
  const answer = await request(url, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify(payload),
    dispatcher,
  })
  await answer.body.text()
  if (answer.statusCode !== SUCCESS) throw new Error(`a branch answered ${answer.statusCode}`)
}
