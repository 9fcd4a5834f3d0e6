import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** Returns publint's complaints about a tarball, if it has more than suggestions. A warning counts as an error. */
export async function publintFault(tarball: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: tarball.buffer } })
  const errors = messages.filter(({ type }) => type === 'error')
  if (errors.length === 0) return undefined
  const others = messages.filter(({ type }) => type !== 'error')
  return [...errors, ...others]
    .map((message) => `${message.type}: ${formatMessage(message, pkg, { color: false }) ?? message.code}`)
    .join('\n')
}
