/** A server that root starts wants to be told that it may run as root. */
export function userOption(): readonly string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : []
}
