import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COUNTERSTEP_PROGRAM } from '@counterstep/test-servers/counterstep-program'
import { expect, it, onTestFinished } from 'vitest'
import { readComposeFile } from '../../repository/compose-file.ts'
import { REPOSITORY } from '../../repository/source-tree.ts'

const TIMEOUT_MS = 30_000
const DOCKERFILE = readFileSync(join(REPOSITORY, 'infra/Dockerfile'), 'utf8')
/** These commands of the image go on running, with Node's own options in them. */
const COMMANDS = [...DOCKERFILE.matchAll(/^(?:ENTRYPOINT|CMD) (\["node".*\])$/gm)].map(
  ([, json = '[]']) => json,
)
const nodeOptions = (command: readonly string[]) =>
  command.slice(
    1,
    command.findIndex((word) => word.endsWith('.js')),
  )
const IN_ENVIRONMENT = /NODE_OPTIONS=(\S+)/.exec(DOCKERFILE)?.[1] ?? ''

/** Starts it as the image does, sends SIGUSR1, and answers with all that it printed. */
async function outputAfterUsr1(options: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-debugger-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const serve = ['serve', '--port', '0', '--data', folder, '--ready-json']
  const child = spawn(process.execPath, [...options, COUNTERSTEP_PROGRAM, ...serve], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: IN_ENVIRONMENT },
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const ended = once(child, 'close')
  await expect.poll(() => output, { timeout: TIMEOUT_MS }).toContain('"url":"http')
  const url = /"url":"(http:[^"]+)"/.exec(output)?.[1]
  child.kill('SIGUSR1')
  // The inspector's thread has said what it does before the loop answers, or has been seen to say nothing twice.
  for (let n = 0; n < 2; n++) expect((await fetch(`${url}/health/live`)).status).toBe(200)
  if (!options.includes('--disable-sigusr1')) {
    await expect.poll(() => output, { timeout: TIMEOUT_MS }).toContain('Debugger listening')
  }
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  return output
}

it('S36: No command of the image lets SIGUSR1 open a debugger', () => {
  const services = Object.values(readComposeFile().services)
  const banks = services.flatMap(({ command = [] }) => (command.includes('dist/bank.js') ? [command] : []))
  const commands = [...COMMANDS.map((json): readonly string[] => JSON.parse(json)), ...banks]
  expect([commands.length, banks.length]).toEqual([4, 2])
  for (const command of commands)
    expect([command, nodeOptions(command)]).toEqual([command, ['--disable-sigusr1']])
})

it('S36: The orchestrator, started as in the image, opens no debugger and goes on', {
  timeout: TIMEOUT_MS,
}, async () => {
  const entrypoint: readonly string[] = JSON.parse(COMMANDS.find((json) => json.includes('main.js')) ?? '[]')
  expect(await outputAfterUsr1(nodeOptions(entrypoint))).not.toContain('Debugger')
})

it('S36: Mutant: an orchestrator without the option opens a debugger', { timeout: TIMEOUT_MS }, async () => {
  expect(await outputAfterUsr1(['--inspect-port=0'])).toContain('Debugger listening on ws://127.0.0.1:')
})
