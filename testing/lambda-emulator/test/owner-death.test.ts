import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { EnvironmentView } from '../src/index.ts'
import { describeLambda } from '../src/vitest/describe-lambda.ts'
import { readProcessState } from './process-state.ts'

const WAIT_MS_MAX = 20_000

describeLambda('an emulator that is killed', () => {
  it('An emulator that is killed leaves no environment behind, neither a frozen nor a busy one', async () => {
    const logFolder = await mkdtemp(join(tmpdir(), 'counterstep-owner-'))
    onTestFinished(() => rm(logFolder, { recursive: true, force: true }))
    const fixtures = join(import.meta.dirname, 'fixtures')
    const owner = spawn(process.execPath, [join(import.meta.dirname, 'owner.ts'), fixtures, logFolder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => {
      owner.kill('SIGKILL')
    })
    const [line] = await once(createInterface({ input: owner.stdout }), 'line')
    const environments: readonly EnvironmentView[] = JSON.parse(String(line))
    expect(environments.map(({ state }) => state).toSorted()).toEqual(['busy', 'frozen'])
    owner.kill('SIGKILL')
    for (const { pid } of environments) {
      await vi.waitFor(() => expect([undefined, 'Z']).toContain(readProcessState(pid)), WAIT_MS_MAX)
    }
  })
})
