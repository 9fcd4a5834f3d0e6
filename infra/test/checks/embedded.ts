import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { saga } from '@counterstep/sdk'
import type { CheckList } from '../check-list.ts'
import { type Mount, runContainer } from '../image/container.ts'
import { type EmbeddedWorld, openEmbeddedWorld, type Roots } from './embedded-world.ts'
import { checkKill } from './kill-under-load.ts'

const STOP_MS_MAX = 10_000
const SLOW_MS = 1_500

export async function checkEmbedded(list: CheckList, roots: Roots, folder: string): Promise<void> {
  await list.check('without keys it does not start, and says what to do', () => checkRefusal(roots))
  await list.check('a volume of another owner is refused by name', () => checkForeignVolume(roots, folder))
  const world = await openEmbeddedWorld(roots, join(folder, 'embedded'))
  try {
    await list.check('it starts on a read-only root as PID 1', () => checkStart(world))
    await list.check('SIGUSR1 opens no debugger', () => checkDebugger(world))
    await list.check('its health check knows whether it lives', () => checkHealth(roots, world))
    await list.check('it shows its API under /docs', () => checkDocs(world))
    await list.check('the demo transfer runs on the embedded store', () => checkDemo(roots, world, folder))
    await list.check('SIGTERM lets a call end, and exits with 0', () => checkDrain(world))
    await list.check('SIGKILL under load loses nothing', () => checkKill(world))
  } finally {
    await world.close()
  }
}

async function checkRefusal({ orchestrator }: Roots): Promise<undefined> {
  const { code, output } = await runContainer(orchestrator, {})
  if (code !== 1 || !output.includes('there are no keys')) throw new Error(`ended with ${code}: ${output}`)
}

async function checkForeignVolume({ orchestrator }: Roots, folder: string): Promise<string> {
  const source = join(folder, 'foreign')
  mkdirSync(source)
  chownSync(source, 0, 0)
  chmodSync(source, 0o755)
  const mounts = [{ source, target: '/data', readOnly: false }]
  const env = { COUNTERSTEP_HOST: '127.0.0.1', COUNTERSTEP_PORT: '0' }
  const { code, output } = await runContainer(orchestrator, { env, mounts })
  if (code !== 1 || !/10001.*may not write|may not write.*10001/.test(output)) {
    throw new Error(`ended with ${code}: ${output}`)
  }
  return /"msg":"([^"]*)"/.exec(output)?.[1] ?? output
}

async function checkStart(world: EmbeddedWorld): Promise<string> {
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    const { container, readyMs } = await world.start()
    if (!container.output().includes('"pid":1,')) throw new Error(`is not PID 1: ${container.output()}`)
    times.push(Math.round(readyMs))
    await container.signal('SIGTERM')
    await container.ended
  }
  return `ready after ${times.join(', ')} ms`
}

async function checkDebugger(world: EmbeddedWorld): Promise<undefined> {
  const { container } = await world.start()
  await container.signal('SIGUSR1')
  // It has answered, so it had the time to print that a debugger listens.
  const { status } = await fetch(`${world.url}/health/live`)
  await container.signal('SIGTERM')
  await container.ended
  if (status !== 200 || container.output().includes('Debugger')) throw new Error(container.output())
}

async function checkHealth({ orchestrator }: Roots, world: EmbeddedWorld): Promise<undefined> {
  const [, ...test] = orchestrator.image.config.Healthcheck?.Test ?? []
  if (test.length === 0) throw new Error('has no health check')
  const judge = async () => {
    const { code } = await runContainer(orchestrator, { env: world.env, entrypoint: test, command: [] })
    return code
  }
  const before = await judge()
  const { container } = await world.start()
  const during = await judge()
  await container.signal('SIGTERM')
  await container.ended
  if (before !== 1 || during !== 0) throw new Error(`answered ${before} before and ${during} during its life`)
}

async function checkDocs(world: EmbeddedWorld): Promise<undefined> {
  const { container } = await world.start()
  const headers = { authorization: `Bearer ${world.key}` }
  for (const path of ['/docs/', '/docs/static/swagger-ui.css', '/openapi.json']) {
    const response = await fetch(`${world.url}${path}`, { headers })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`${path} answers ${response.status}`)
  }
  await container.signal('SIGTERM')
  await container.ended
}

async function checkDemo({ examples }: Roots, world: EmbeddedWorld, folder: string): Promise<string> {
  const { container } = await world.start()
  const source = join(folder, 'demo.key')
  writeFileSync(source, world.key)
  const [bankA = '', bankB = ''] = world.bankUrls
  const env = {
    COUNTERSTEP_URL: world.url,
    COUNTERSTEP_API_KEY_FILE: '/data/demo.key',
    BANK_A_URL: bankA,
    BANK_B_URL: bankB,
  }
  const mounts: readonly Mount[] = [{ source, target: '/data/demo.key', readOnly: true }]
  const { code, output } = await runContainer(examples, { env, command: ['node', 'dist/demo.js'], mounts })
  await container.signal('SIGTERM')
  await container.ended
  if (code !== 0) throw new Error(`ended with ${code}: ${output}`)
  return output.trim().split('\n').at(-1) ?? ''
}

async function checkDrain(world: EmbeddedWorld): Promise<string> {
  const { container } = await world.start()
  const slow = saga().branch('debit', {
    action: 'bank-a:/debit',
    compensation: 'bank-a:/debit-undo',
    payload: { account: 'alice', amountCents: 1, slowMs: SLOW_MS },
  })
  await world.client.submit(slow)
  const startedAt = performance.now()
  await container.signal('SIGTERM')
  const { code, signal } = await container.ended
  const stopMs = Math.round(performance.now() - startedAt)
  if (code !== 0 || stopMs > STOP_MS_MAX) throw new Error(`ended with ${code ?? signal} after ${stopMs} ms`)
  const again = await world.start()
  const { status } = await world.client.wait(slow.gid, { timeoutMs: 20_000 })
  await again.container.signal('SIGTERM')
  await again.container.ended
  if (status !== 'succeeded') throw new Error(`the transaction is ${status}`)
  return `${stopMs} ms with a call of ${SLOW_MS} ms under way`
}
