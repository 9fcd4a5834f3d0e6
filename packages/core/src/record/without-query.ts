/** A URL as it is shown: its query may have a secret for the branch, which is not for everybody who may look. */
export function withoutQuery(url: string): string {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}
