import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { isAlive } from '../src/is-alive.ts'
import { untilReady } from '../src/servers/until-ready.ts'
import { describeOwn } from '../src/vitest/describe-on.ts'

const GONE_MS_MAX = 20_000

let temporary = ''
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'counterstep-owner-'))
  // A PostgreSQL that root starts runs as another user, which must be able to pass through the folder.
  await chmod(temporary, 0o711)
})
afterEach(() => rm(temporary, { recursive: true, force: true }))

for (const kind of ['mariadb', 'redis', 'postgres'] as const) {
  describeOwn(kind, 'the death of an owner', () => {
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT'] as const) {
      it(`The death of an owner by ${signal} leaves no server, no keeper and no folder`, async () => {
        const owner = spawn(process.execPath, [join(import.meta.dirname, 'owner.ts'), kind], {
          env: { ...process.env, TMPDIR: temporary },
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        const [line] = await once(createInterface(owner.stdout), 'line')
        const pids: readonly number[] = JSON.parse(String(line))
        // A PostgreSQL has more processes than its first one.
        expect(pids.length).toBeGreaterThanOrEqual(kind === 'postgres' ? 6 : 2)
        expect(pids.filter(isAlive)).toEqual(pids)
        expect(await readdir(temporary)).toHaveLength(1)

        owner.kill(signal)
        await untilReady('all is gone', GONE_MS_MAX, async () => {
          const left = pids.filter(isAlive)
          if (left.length > 0) return `processes ${left.join(', ')}`
          const folders = existsSync(temporary) ? await readdir(temporary) : []
          return folders.length === 0 ? undefined : folders.join(', ')
        })
      })
    }
  })
}
