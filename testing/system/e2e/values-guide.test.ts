import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { Guide } from '@counterstep/test-servers/guide'
import { expect, it, onTestFinished } from 'vitest'
import { startChild } from './child-process.ts'

it('The programs of the guide about values print what the guide says', async () => {
  const guide = new Guide('values')
  const folder = guide.writePrograms('hold.ts', 'typed.ts')
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
  for (const [program, printed] of [
    ['hold.ts', 'text'],
    ['typed.ts', 'text typed'],
  ] as const) {
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, program)], {
      env: { ...process.env, COUNTERSTEP_URL: server.url },
    })
    expect(stdout).toBe(guide.readBlock(printed))
  }
})
