import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Guide } from '@counterstep/test-servers/guide'
import { expect, it } from 'vitest'
import { serveUntilTestEnds } from './child-process.ts'

it('The programs of the guide about values print what the guide says', async () => {
  const guide = new Guide('values')
  const folder = guide.writePrograms('hold.ts', 'typed.ts')
  const server = await serveUntilTestEnds(folder)
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
