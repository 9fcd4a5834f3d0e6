/** Bodies that would change if they were parsed and written again, or treated as another kind of text. */
import type { Random } from '../world/random.ts'

const HOSTILE = [
  '"n":9007199254740993',
  '"n":1.0',
  '"n":1e400',
  '"__proto__":{"a":1}',
  '"a":1,"a":2',
  '"r":{"$from":"b0"}',
  '"t":"\\u0000\\ud83d\\udcb6"',
  '"t":"</script>\u2028\u00e9\ud83d\udcb6"',
]

export function drawBody(random: Random, gid: string, branch: number): string {
  const own = `"of":"${gid}/${branch}"`
  if (random.chance(0.2)) return `plain ${own}\r\n\t\u0007`
  return `{${own}, ${HOSTILE[random.between(0, HOSTILE.length - 1)]}}`
}
