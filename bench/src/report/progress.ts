export interface Progress {
  show(text: string): void
  clear(): void
}

const CLEAR_LINE = '\r\u001b[2K'

/** One line that is written over, on a terminal; elsewhere nothing. */
export function terminalProgress(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return { show: () => undefined, clear: () => undefined }
  return {
    show: (text) => stream.write(`${CLEAR_LINE}${text}`),
    clear: () => stream.write(CLEAR_LINE),
  }
}
