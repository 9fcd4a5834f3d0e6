/** Lets the browser save a text as a file. Nothing of it leaves the page otherwise. */
export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has taken the blob by its next turn.
  setTimeout(() => URL.revokeObjectURL(url), 0)
}
