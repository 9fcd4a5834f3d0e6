import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { callOver, serve } from './served-server.ts'

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url))
const GUIDE = readFileSync(join(REPOSITORY, 'docs/guides/saga.md'), 'utf8')

function block(opening: string): string {
  const text = GUIDE.split(`\`\`\`${opening}\n`)[1]?.split('```')[0]
  if (text === undefined) throw new Error(`the guide has no ${opening}`)
  return text
}

/** Everything but the flight has one order; the flight is somewhere between two others. */
function expectTrip(lines: readonly string[], told: string): void {
  const expected = told.trim().split('\n')
  const withoutFlight = (each: readonly string[]) => each.filter((line) => !line.startsWith('/flight'))
  expect([...lines].sort()).toEqual([...expected].sort())
  expect(withoutFlight(lines)).toEqual(withoutFlight(expected))
  const at = (line: string) => lines.indexOf(line)
  expect(at('/flight')).toBeGreaterThan(at('/order'))
  expect(at('/flight')).toBeLessThan(at('/pay'))
  if (!lines.includes('/flight/undo')) return
  expect(at('/flight/undo')).toBeGreaterThan(at('/pay/undo'))
  expect(at('/flight/undo')).toBeLessThan(at('/order/undo'))
}

it('The saga of the guide runs as a graph, and is undone against its arrows, as the guide prints it', async () => {
  // The folder is within the repository, where the program finds the packages.
  mkdirSync(join(REPOSITORY, '.tmp'), { recursive: true })
  const folder = mkdtempSync(join(REPOSITORY, '.tmp', 'saga-guide-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await using server = await serve(callOver)
  const program = join(folder, 'trip.ts')
  writeFileSync(program, block('ts trip.ts'))
  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    env: { ...process.env, COUNTERSTEP_URL: server.url },
  })
  const lines = stdout.trim().split('\n')
  const firstEnd = lines.findIndex((line) => line.startsWith('succeeded')) + 1
  expectTrip(lines.slice(0, firstEnd), block('text first'))
  expectTrip(lines.slice(firstEnd), block('text second'))
})
