import { BODY_BYTES_MAX } from '@counterstep/protocol'
import { signatureError } from './signature-refusal.ts'

/** All bytes of a stream that nobody has read, up to the length that a branch call may have. */
export async function readBody(
  stream: AsyncIterable<Uint8Array | string>,
  contentLength: string | undefined,
): Promise<Buffer> {
  // Before a byte is read: the answer still arrives then.
  if (Number(contentLength ?? 0) > BODY_BYTES_MAX) throw signatureError('too-large')
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of stream) {
    const next = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    bytes += next.length
    if (bytes > BODY_BYTES_MAX) throw signatureError('too-large')
    chunks.push(next)
  }
  return Buffer.concat(chunks, bytes)
}
