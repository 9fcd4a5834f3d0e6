/** One event of a `text/event-stream`. */
export interface ServerEvent {
  readonly name: string
  readonly data: string
}

/**
 * Reads the events of a stream. Ends when the stream does, and throws if one event has more than `charactersMax`
 * characters. `onBytes` is called for each chunk, also for comments, which servers send to show that they are there.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  charactersMax: number,
  onBytes: () => void,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onBytes()
      const blocks = `${rest}${decoder.decode(value, { stream: true }).replaceAll('\r', '')}`.split('\n\n')
      rest = blocks.pop() ?? ''
      if (rest.length > charactersMax) throw new Error(`an event is longer than ${charactersMax} characters`)
      for (const block of blocks) yield readEvent(block)
    }
  } finally {
    // This ends the connection. If that fails, the outcome is the same.
    void reader.cancel().catch(() => undefined)
  }
}

function readEvent(block: string): ServerEvent {
  let name = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    const at = line.indexOf(':')
    const field = at < 0 ? line : line.slice(0, at)
    const value = at < 0 ? '' : line.slice(line.startsWith(' ', at + 1) ? at + 2 : at + 1)
    if (field === 'event') name = value
    if (field === 'data') data.push(value)
  }
  return { name, data: data.join('\n') }
}
