/** One line for whoever waits. On the error stream: a measurement may own the other one. */
export function progress(line: string): void {
  process.stderr.write(`test servers: ${line}\n`)
}
