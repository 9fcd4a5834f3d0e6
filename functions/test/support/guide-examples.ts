import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

const REPOSITORY = join(import.meta.dirname, '../../..')

/** This is the text of the guide. */
export const GUIDE = readFileSync(join(REPOSITORY, 'docs/guides/deploy-lambda.md'), 'utf8')

/**
 * Writes the named examples of the guide into a folder of the repository, where they can import the packages. The folder
 * is removed after the test.
 */
export function writeExamples(...names: readonly string[]): string {
  mkdirSync(join(REPOSITORY, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(REPOSITORY, '.tmp', 'lambda-guide-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of names) {
    const code = GUIDE.split(`\`\`\`ts ${name}\n`)[1]?.split('```')[0]
    if (code === undefined) throw new Error(`the guide has no ${name}`)
    writeFileSync(join(folder, name), code)
  }
  return folder
}
