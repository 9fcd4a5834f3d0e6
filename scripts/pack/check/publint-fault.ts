import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** What publint says of a tarball, if more than suggestions. What it warns of is an error. */
export async function publintFault(tarball: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: tarball.buffer } })
  const errors = messages.filter(({ type }) => type === 'error')
  if (errors.length === 0) return undefined
  const others = messages.filter(({ type }) => type !== 'error')
  return [...errors, ...others]
    .map((message) => `${message.type}: ${formatMessage(message, pkg, { color: false }) ?? message.code}`)
    .join('\n')
}
