import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exclusively } from './exclusively.ts'

const EXCLUSIVELY = JSON.stringify(join(import.meta.dirname, 'exclusively.ts'))
const ON_LINUX = process.platform === 'linux'

describe.runIf(ON_LINUX)('work under one name', () => {
  it('Work under one name runs one at a time, and each gets its turn', async () => {
    const running = new Set<number>()
    const most: number[] = []
    const name = `test ${process.pid}`
    const done = await Promise.all(
      [1, 2, 3, 4].map((worker) =>
        exclusively(name, async () => {
          running.add(worker)
          most.push(running.size)
          await new Promise((resolve) => setTimeout(resolve, 20))
          running.delete(worker)
          return worker
        }),
      ),
    )
    expect(done).toEqual([1, 2, 3, 4])
    expect(most).toEqual([1, 1, 1, 1])
  })

  it('Work that fails passes on its failure and gives the name free', async () => {
    const name = `failing ${process.pid}`
    await expect(exclusively(name, () => Promise.reject(new Error('no luck')))).rejects.toThrow('no luck')
    expect(await exclusively(name, async () => 'next')).toBe('next')
  })

  it('Work waits for another process under its name, and no longer when that is killed', async () => {
    const name = `killed ${process.pid}`
    const script = `import { exclusively } from ${EXCLUSIVELY}
      await exclusively(${JSON.stringify(name)}, () => new Promise(() => { console.log('held'); setInterval(() => 0, 1000) }))`
    const holder = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(holder.stdout, 'data')
    let hasRun = false
    const work = exclusively(name, async () => {
      hasRun = true
    })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(hasRun).toBe(false)
    holder.kill('SIGKILL')
    await work
    expect(hasRun).toBe(true)
  })
})
