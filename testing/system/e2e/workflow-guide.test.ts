import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Guide } from '@counterstep/test-servers/guide'
import { expect, it } from 'vitest'
import { serveUntilTestEnds } from './child-process.ts'

it('The workflow of the guide ends, is refused and is declined, as the guide prints it', async () => {
  const guide = new Guide('workflow')
  const folder = guide.writePrograms('order.ts')
  const server = await serveUntilTestEnds(folder, ['--accept-new-kinds'])
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'order.ts')], {
    env: { ...process.env, COUNTERSTEP_URL: server.url },
  })
  expect(stdout).toBe(guide.readBlock('text'))
})

it('The tests of the guide pass', async () => {
  const names = ['payment.test.ts', 'subscription.test.ts']
  const folder = new Guide('workflow').writePrograms(...names)
  // This process is run by a test runner, which node:test would take for its own parent.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--test', '--test-reporter=tap', ...names.map((name) => join(folder, name))],
    { env },
  )
  expect(stdout).toContain('# pass 3')
})
