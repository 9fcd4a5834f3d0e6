import { AnswerBytes } from './answer-bytes.ts'

/**
 * This is the text of what `fetch` answered. `fetch` unpacks it, so that the bytes are counted as they come out of
 * that.
 */
export async function readResponse(response: Response, bytesMax: number): Promise<string> {
  try {
    return await readChunks(response, bytesMax)
  } catch (error: unknown) {
    // The connection ends: what the other side still sends goes nowhere. A failure of that is no other outcome.
    if (response.body?.locked === false) void response.body.cancel(error).catch(() => undefined)
    throw error
  }
}

async function readChunks(response: Response, bytesMax: number): Promise<string> {
  const { status, headers, body } = response
  const answer = new AnswerBytes(status, headers.get('content-length'), bytesMax)
  // Some platforms and stand-ins of `fetch` have no streams. They hold the whole text already.
  if (typeof body?.getReader !== 'function') {
    answer.add(new TextEncoder().encode(await response.text()))
    return answer.text()
  }
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return answer.text()
      answer.add(value)
    }
  } finally {
    reader.releaseLock()
  }
}
