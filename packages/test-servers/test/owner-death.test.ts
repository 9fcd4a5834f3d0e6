import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { until } from '../src/until.ts'
import { describeOwn } from '../src/vitest/describe-on.ts'

const GONE_MS_MAX = 20_000

let temporary = ''
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'counterstep-owner-'))
})
afterEach(() => rm(temporary, { recursive: true, force: true }))

describeOwn('mariadb', 'the death of an owner', () => {
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT'] as const) {
    it(`by ${signal} leaves no server, no keeper and no folder`, async () => {
      const owner = spawn(process.execPath, [join(import.meta.dirname, 'owner.ts')], {
        env: { ...process.env, TMPDIR: temporary },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const [line] = await once(createInterface(owner.stdout), 'line')
      const servers: readonly { readonly pid: number }[] = JSON.parse(String(line))
      const pids = servers.map(({ pid }) => pid)
      expect(pids.map(isAlive)).toEqual([true, true, true])
      expect(await readdir(temporary)).toHaveLength(1)

      owner.kill(signal)
      await until('all is gone', GONE_MS_MAX, async () => {
        const left = pids.filter(isAlive)
        if (left.length > 0) return `processes ${left.join(', ')}`
        const folders = existsSync(temporary) ? await readdir(temporary) : []
        return folders.length === 0 ? undefined : folders.join(', ')
      })
    })
  }
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error: unknown) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}
