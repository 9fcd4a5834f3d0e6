import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const END_MS_MAX = 10_000

let folder = ''
let child: ChildProcess | undefined
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'counterstep-log-reader-'))
})
afterEach(async () => {
  child?.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** Starts a server and stops reading its output once it has printed its URL. */
async function unreadServer(
  ...more: readonly string[]
): Promise<{ readonly server: ChildProcess; readonly url: string }> {
  const args = [COUNTERSTEP_PROGRAM, 'serve', '--port', '0', '--data', folder, ...more]
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  child = server
  let text = ''
  for await (const chunk of server.stdout) {
    text += String(chunk)
    const url = /"url":"([^"]+)"/.exec(text)?.[1]
    if (url === undefined) continue
    server.stdout.destroy()
    server.stderr.destroy()
    return { server, url }
  }
  throw new Error(`it did not start: ${text}`)
}

describe('a server whose log has no reader any more', () => {
  for (const more of [[], ['--ready-json'], ['--ready-json', '--log-level', 'debug']]) {
    it(`A server whose log has no reader goes on, and ends on SIGTERM (${more.join(' ')})`, async () => {
      const { server, url } = await unreadServer(...more)
      // The server writes some of its lines to the closed pipe while it runs.
      for (let count = 0; count < 3; count += 1) expect((await fetch(`${url}/health/live`)).status).toBe(200)
      const ended = once(server, 'exit', { signal: AbortSignal.timeout(END_MS_MAX) })
      server.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
    })
  }
})
