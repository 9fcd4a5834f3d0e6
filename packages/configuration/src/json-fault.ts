/**
 * Says by line and column where a text stops being JSON. If only the end of the text is missing, this is its last
 * place.
 */
export function findJsonFault(text: string): string {
  const before = text.slice(0, findPosition(text)).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}

/**
 * V8 says at which position it stopped, except for a token that it did not expect. The position of that token is
 * searched: V8 refuses with the same message every beginning of the text that holds the token, and no shorter one.
 */
function findPosition(text: string): number {
  const problem = findProblem(text)
  const position = /at position (\d+)/.exec(problem)?.[1]
  if (position !== undefined) return Number(position)
  if (!isUnexpected(problem)) return text.length
  let [tooShort, longEnough] = [0, text.length]
  while (longEnough - tooShort > 1) {
    const middle = Math.floor((tooShort + longEnough) / 2)
    if (isUnexpected(findProblem(text.slice(0, middle)))) longEnough = middle
    else tooShort = middle
  }
  return longEnough - 1
}

function isUnexpected(problem: string): boolean {
  return problem.startsWith('Unexpected token')
}

function findProblem(text: string): string {
  try {
    JSON.parse(text)
    return ''
  } catch (error: unknown) {
    if (!(error instanceof SyntaxError)) throw error
    return error.message
  }
}
