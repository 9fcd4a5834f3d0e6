/** One event of a `text/event-stream`. */
export interface ServerEvent {
  readonly name: string
  readonly data: string
}

export interface EventReading {
  /** If one event has more characters, the reading throws. */
  readonly charactersMax: number
  /** It is called for each chunk, also for comments, which servers send to show that they are there. */
  readonly onBytes: () => void
  /** Ends the reading, which throws the signal's reason. */
  readonly signal: AbortSignal
}

/** Reads the events of a stream, and ends when the stream does. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  { charactersMax, onBytes, signal }: EventReading,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  // This ends the connection, and what is being read. If that fails, the outcome is the same.
  const close = (): void => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', close, { once: true })
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return
      onBytes()
      const blocks = `${rest}${decoder.decode(value, { stream: true }).replaceAll('\r', '')}`.split('\n\n')
      rest = blocks.pop() ?? ''
      if (rest.length > charactersMax) throw new Error(`an event is longer than ${charactersMax} characters`)
      for (const block of blocks) yield readEvent(block)
    }
  } finally {
    signal.removeEventListener('abort', close)
    close()
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
