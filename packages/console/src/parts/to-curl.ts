interface CurlCall {
  readonly url: string
  readonly method?: string
  readonly body?: unknown
}

/** Writes a call as a command line. Where keys are needed, the reader's own file has the key. */
export function toCurl({ url, method, body }: CurlCall): string {
  const parts = ['curl -s']
  if (method !== undefined && method !== 'GET') parts.push(`-X ${method}`)
  parts.push(quoteForShell(url))
  if (body !== undefined) {
    parts.push("-H 'content-type: application/json'", `-d ${quoteForShell(JSON.stringify(body))}`)
  }
  return parts.join(' ')
}

/** Between single quotes a shell takes everything as it stands, but for the single quote. */
export function quoteForShell(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Writes an option of the command line. A value that begins with a dash would pass for the next option. */
export function writeOption(name: string, value: string): string {
  return `--${name}${value.startsWith('-') ? '=' : ' '}${quoteForShell(value)}`
}
