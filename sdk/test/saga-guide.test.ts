import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Guide } from '@counterstep/test-servers/guide'
import { expect, it } from 'vitest'
import { callOver, serve } from './served-server.ts'

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
  const guide = new Guide('saga')
  await using server = await serve(callOver)
  const program = join(guide.writePrograms('trip.ts'), 'trip.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [program], {
    env: { ...process.env, COUNTERSTEP_URL: server.url },
  })
  const lines = stdout.trim().split('\n')
  const firstEnd = lines.findIndex((line) => line.startsWith('succeeded')) + 1
  expectTrip(lines.slice(0, firstEnd), guide.readBlock('text first'))
  expectTrip(lines.slice(firstEnd), guide.readBlock('text second'))
})
