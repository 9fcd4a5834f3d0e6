let second = 0
let line = ''

/** `Date: …` of now with its CRLF, made once a second. */
export function dateLine(): string {
  const nowMs = Date.now()
  const nowSecond = Math.floor(nowMs / 1000)
  if (nowSecond !== second) {
    second = nowSecond
    line = `Date: ${new Date(nowMs).toUTCString()}\r\n`
  }
  return line
}
