import { AnswerBytes } from './answer-bytes.ts'

/** Reads the text of an answer of `fetch`. `fetch` unpacks the answer, so the unpacked bytes are counted. */
export async function readResponse(response: Response, bytesMax: number): Promise<string> {
  try {
    return await readChunks(response, bytesMax)
  } catch (error: unknown) {
    // This ends the connection, so the other side stops sending. If that fails, the outcome is the same.
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
