/** A server that root starts needs an option that lets it run as root. */
export function userOption(): readonly string[] {
  return process.getuid?.() === 0 ? ['--user=root'] : []
}
