import { BODY_BYTES_MAX } from '@counterstep/protocol'
import { CollectedBytes } from '../collected-bytes.ts'
import { toSignatureError } from './signature-refusal.ts'

/** Reads all bytes of a stream that was not read before, up to the length that a branch call may have. */
export async function readBody(
  stream: AsyncIterable<Uint8Array | string>,
  contentLength: string | undefined,
): Promise<Buffer> {
  // The length is checked before a byte is read, because the answer can still arrive then.
  if (Number(contentLength ?? 0) > BODY_BYTES_MAX) throw toSignatureError('too-large')
  const bytes = new CollectedBytes(BODY_BYTES_MAX)
  for await (const chunk of stream) {
    if (!bytes.add(typeof chunk === 'string' ? Buffer.from(chunk) : chunk))
      throw toSignatureError('too-large')
  }
  const { buffer, byteOffset, byteLength } = bytes.bytesSoFar()
  return Buffer.from(buffer, byteOffset, byteLength)
}
