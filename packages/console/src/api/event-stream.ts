/** One event of a stream: its name and its data. */
export interface StreamEvent {
  readonly name: string
  readonly data: string
}

/**
 * Reads the events of a `text/event-stream` from pieces of text, which may end anywhere. The browser's own EventSource
 * cannot send the header that a request with a cookie needs.
 */
export class EventReader {
  private rest = ''

  read(piece: string): readonly StreamEvent[] {
    const blocks = (this.rest + piece).replaceAll('\r\n', '\n').split('\n\n')
    this.rest = blocks.pop() ?? ''
    return blocks.flatMap(readBlock)
  }
}

function readBlock(block: string): readonly StreamEvent[] {
  const fields = block.split('\n').map((line) => /^(event|data): ?(.*)$/.exec(line))
  const pick = (name: string) =>
    fields.filter((field) => field?.[1] === name).map((field) => field?.[2] ?? '')
  const data = pick('data')
  return data.length === 0 ? [] : [{ name: pick('event').at(-1) ?? 'message', data: data.join('\n') }]
}
