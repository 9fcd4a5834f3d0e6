import { isLoopback } from './loopback.ts'
import type { Parsed } from './setting.ts'

const URL_LENGTH_MAX = 2_048

/** Of an SQS queue, or of a stand-in on this machine. Not quoted when it is none: it may hold a login. */
export function queueUrl(text: string): Parsed<string> {
  const url = text.length <= URL_LENGTH_MAX && URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !isReachedSafely(url)) {
    return { problem: 'must be the https URL of an SQS queue; http only on this machine' }
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return { problem: 'must have no login and no parameters' }
  }
  // A FIFO queue takes no delay for a single message, and a stuck one holds up those behind it.
  if (url.pathname.endsWith('.fifo')) return { problem: 'must be a standard queue, not a FIFO one' }
  return { value: text }
}

function isReachedSafely({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname.replace(/^\[(.*)\]$/, '$1')))
}
