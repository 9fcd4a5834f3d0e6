import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { freePort } from './free-port.ts'

const FREE_PORT = JSON.stringify(join(import.meta.dirname, 'free-port.ts'))
const PORTS = 400

describe('a free port', () => {
  it('A free port is given once, and leaves room for outgoing connections', async () => {
    const ports = await Promise.all(Array.from({ length: PORTS }, freePort))
    expect(new Set(ports).size).toBe(PORTS)
    for (const port of ports) expect(port).toBeLessThan(32_768)
  })

  it.runIf(process.platform === 'linux')('A free port is given to only one of two processes', async () => {
    // Without reservations the processes would get the same port sixteen times.
    const script = `import { freePort } from ${FREE_PORT}
      for (let i = 0; i < ${PORTS}; i++) process.stdout.write(await freePort() + ' ')
      process.stdin.resume()`
    const takers = [0, 1].map(() =>
      spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    )
    const lists = await Promise.all(
      takers.map(async ({ stdout, stdin }) => {
        let text = ''
        stdout.on('data', (chunk: Buffer) => {
          text += chunk.toString()
        })
        while (text.split(' ').length <= PORTS) await once(stdout, 'data')
        return { ports: text.trim().split(' '), stdin }
      }),
    )
    for (const { stdin } of lists) stdin.end()
    const all = lists.flatMap(({ ports }) => ports)
    expect(new Set(all).size).toBe(all.length)
  })
})
