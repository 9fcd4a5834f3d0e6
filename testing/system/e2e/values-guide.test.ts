import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { expect, it, onTestFinished } from 'vitest'
import { startChild } from './child-process.ts'

const REPOSITORY = fileURLToPath(new URL('../../..', import.meta.url))
const GUIDE = readFileSync(join(REPOSITORY, 'docs/guides/values.md'), 'utf8')

function block(opening: string): string {
  const text = GUIDE.split(`\`\`\`${opening}\n`)[1]?.split('```')[0]
  if (text === undefined) throw new Error(`the guide has no ${opening}`)
  return text
}

it('The program of the guide about values prints what the guide says', async () => {
  // It lies within the repository, where it finds the packages.
  mkdirSync(join(REPOSITORY, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(REPOSITORY, '.tmp', 'values-guide-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const data = join(folder, 'data')
  const server = await startChild(COUNTERSTEP_PROGRAM, [
    'serve',
    '--port',
    '0',
    '--data',
    data,
    '--ready-json',
  ])
  onTestFinished(() => server.kill('SIGTERM'))
  const program = join(folder, 'hold.ts')
  writeFileSync(program, block('ts hold.ts'))
  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    env: { ...process.env, COUNTERSTEP_URL: server.url },
  })
  expect(stdout).toBe(block('text'))
})
