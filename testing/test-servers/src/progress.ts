/** Shows a line to the person who waits. It uses the error stream, since a measurement may need the other one. */
export function progress(line: string): void {
  process.stderr.write(`test servers: ${line}\n`)
}
