import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { until } from '@counterstep/test-servers/until'
import { expect, it } from 'vitest'
import { reasonToInstall } from '../../../scripts/install.mjs'

const ROOT = join(import.meta.dirname, '../../..')
/** This is enough for the orchestrator's own stop, the banks' after it, and a machine that is busy. */
const GONE_MS_MAX = 25_000

/** Finds the pids whose command line holds the text; no process of another user is seen. */
function processesWith(text: string): readonly string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && readCommandLine(name).includes(text))
}

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // It has just ended.
    return ''
  }
}

/** Runs the body with an empty data folder, which every process of the demo has in its command line. */
async function withData(body: (data: string) => Promise<void>): Promise<void> {
  // Otherwise the script would first install, while other programs use this checkout.
  expect(reasonToInstall(ROOT)).toBeUndefined()
  const data = mkdtempSync(join(tmpdir(), 'counterstep-start-'))
  try {
    await body(data)
    await until('every process has ended', GONE_MS_MAX, () => processesWith(data).length === 0)
  } finally {
    for (const pid of processesWith(data)) process.kill(Number(pid), 'SIGKILL')
    rmSync(data, { recursive: true, force: true })
  }
}

for (const [title, reader, starts] of [
  ['before the first line', 'true', false],
  ['while the transfers are played', 'head -1', true],
] as const) {
  it.runIf(process.platform === 'linux')(
    `The command npm start leaves no process behind when its output is closed ${title}`,
    { timeout: 60_000 },
    () =>
      withData(async (data) => {
        // The port is free for every run; without --once the demo would go on serving.
        const start = `'${process.execPath}' '${join(ROOT, 'scripts/start.mjs')}' --port 0 --data '${data}'`
        const shell = spawn('sh', ['-c', `${start} 2>&1 | ${reader}`], { stdio: 'ignore' })
        await once(shell, 'exit')
        expect(readdirSync(data).includes('bank-a.db')).toBe(starts)
      }),
  )
}

it.runIf(process.platform === 'linux')(
  'The command npm start leaves no process behind when npm alone is killed',
  { timeout: 60_000 },
  () =>
    withData(async (data) => {
      const npm = spawn('npm', ['start', '--', '--port', '0', '--data', data], {
        cwd: ROOT,
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      for await (const line of createInterface({ input: npm.stdout })) {
        if (line.startsWith('Ctrl-C stops')) break
      }
      expect(processesWith(join(data, 'bank-b.db'))).toHaveLength(1)
      // Neither a signal nor the end of a pipe tells its children.
      npm.kill('SIGKILL')
    }),
)
