import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writeHelp } from '../../../packages/cli/src/help-text.ts'
import { reasonToInstall } from '../../../scripts/install.mjs'

const ROOT = join(import.meta.dirname, '../../..')

it('The command npm start -- --help shows the options of the demo, then those of serve, and starts nothing', () => {
  // Otherwise the script would first install, while other programs use this checkout.
  expect(reasonToInstall(ROOT)).toBeUndefined()
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(ROOT, 'scripts/start.mjs'), '--once', '--help'],
    { encoding: 'utf8' },
  )
  expect(stderr).toBe('')
  expect(status).toBe(0)
  for (const flag of ['--once', '--port N', '--data DIR']) expect(stdout).toContain(flag)
  expect(stdout.endsWith(writeHelp('serve'))).toBe(true)
})
