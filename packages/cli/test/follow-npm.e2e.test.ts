import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { afterEach, expect, it } from 'vitest'

const folders: string[] = []
const groups: ChildProcess[] = []

afterEach(() => {
  for (const { pid } of groups.splice(0)) killGroup(pid)
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error: unknown) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Runs `counterstep serve` below a shell, in a process group of their own. It resolves once the server listens. */
async function serveBelow(command: (serve: string) => readonly [string, readonly string[]], event: string) {
  const data = mkdtempSync(join(tmpdir(), 'counterstep-follow-'))
  folders.push(data)
  const serve = [
    process.execPath,
    COUNTERSTEP_PROGRAM,
    'serve',
    '--port',
    '0',
    '--ready-json',
    '--data',
    data,
  ]
  // Without a second command the shell would be replaced by the first.
  const [program, args] = command(`${serve.map((word) => `'${word}'`).join(' ')}; true`)
  const { npm_lifecycle_event: _, ...environment } = process.env
  const child = spawn(program, args, {
    detached: true,
    env: { ...environment, ...(event === '' ? {} : { npm_lifecycle_event: event }) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  groups.push(child)
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout })
  const listening = new Promise<string>((resolve) => {
    reader.on('line', (line) => {
      lines.push(line)
      if (line.startsWith('{"url":')) resolve(JSON.parse(line).url)
    })
  })
  // The pipe ends when the last process that has it open ends.
  return { child, lines, url: await listening, ended: once(reader, 'close') }
}

const shell = (line: string) => ['sh', ['-c', line]] as const
/** Plays npm, which starts a shell. */
const npmAndShell = (line: string) => {
  const program = `require('node:child_process').spawn('sh', ['-c', ${JSON.stringify(line)}], { stdio: 'inherit' })`
  return [process.execPath, ['-e', program]] as const
}

for (const [title, command] of [
  ['npm ends its shell', shell],
  ['npm alone is killed', npmAndShell],
] as const) {
  // Other systems do not show the parents of all processes.
  it.runIf(process.platform === 'linux')(`A server that npm has started stops when ${title}`, async () => {
    const { child, lines, ended } = await serveBelow(command, 'npx')
    child.kill('SIGKILL')
    await ended
    expect(lines.map((line) => JSON.parse(line).msg)).toContain('stopped')
  })
}

it.runIf(process.platform === 'linux')('A server that npm has not started outlives its parent', async () => {
  const [alone, following] = [await serveBelow(shell, ''), await serveBelow(shell, 'npx')]
  alone.child.kill('SIGKILL')
  await once(alone.child, 'exit')
  following.child.kill('SIGKILL')
  await following.ended
  expect((await fetch(`${alone.url}/health/live`)).status).toBe(200)
})
