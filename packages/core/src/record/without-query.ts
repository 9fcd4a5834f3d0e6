/** Returns a URL as it is shown, without its query, which may have a secret that only the branch should see. */
export function withoutQuery(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}
