import { type BroughtName, findProgram, readEnvironment } from '@counterstep/test-servers'
import { describe, it } from 'vitest'

/**
 * Defines tests that run a program of others, whose path `define` gets. Where it is missing, one test stands in their
 * place: it is skipped by name, and fails in CI.
 */
export async function describeWith(
  name: BroughtName,
  title: string,
  define: (path: string) => void,
): Promise<void> {
  const found = await findProgram(name)
  if (found.type === 'found') {
    describe(`${title} (${name})`, () => define(found.path))
    return
  }
  describe(`${title} (${name})`, () => {
    it('The program of these tests is there', (context) => {
      if (readEnvironment().isCi) throw new Error(found.reason)
      context.skip(`${found.reason} (Debian: apt-get install ${name})`)
    })
  })
}
