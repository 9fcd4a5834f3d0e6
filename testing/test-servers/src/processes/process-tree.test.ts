import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { listByProc, listByPs } from './list-processes.ts'
import { signalTree } from './process-tree.ts'

// Each has a group of its own, as the processes of a PostgreSQL have.
const PARENT = `
  const { spawn } = require('node:child_process')
  const pids = [0, 1].map(() => spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).pid)
  console.log(JSON.stringify(pids))
  setInterval(() => 0, 1000)
`

const spawned: ChildProcess[] = []
afterEach(() => {
  for (const child of spawned.splice(0)) child.kill('SIGKILL')
})

async function startTree(): Promise<{ readonly parent: ChildProcess; readonly pids: readonly number[] }> {
  const parent = spawn(process.execPath, ['-e', PARENT], { stdio: ['ignore', 'pipe', 'inherit'] })
  spawned.push(parent)
  const [line] = await once(createInterface(parent.stdout), 'line')
  return { parent, pids: [parent.pid ?? 0, ...JSON.parse(String(line))] }
}

for (const [name, list] of [
  ['/proc', listByProc],
  ['ps', listByPs],
] as const) {
  describe.skipIf(name === '/proc' && process.platform !== 'linux')(`a tree of processes, by ${name}`, () => {
    const readStates = (pids: readonly number[]) =>
      pids.map((pid) => list().find((each) => each.pid === pid)?.state[0])

    it('A tree of processes is stopped, goes on, and is killed as one', async () => {
      const { parent, pids } = await startTree()
      await signalTree(pids[0] ?? 0, 'SIGSTOP', list)
      expect(readStates(pids)).toEqual(['T', 'T', 'T'])
      await signalTree(pids[0] ?? 0, 'SIGCONT', list)
      expect(readStates(pids)).not.toContain('T')
      const ended = once(parent, 'exit')
      await signalTree(pids[0] ?? 0, 'SIGKILL', list)
      expect(await ended).toEqual([null, 'SIGKILL'])
      for (const state of readStates(pids)) expect([undefined, 'Z']).toContain(state)
    })

    it('A stopped tree of processes can be killed', async () => {
      const { pids } = await startTree()
      await signalTree(pids[0] ?? 0, 'SIGSTOP', list)
      await signalTree(pids[0] ?? 0, 'SIGKILL', list)
      for (const state of readStates(pids)) expect([undefined, 'Z']).toContain(state)
    })

    it('A signal to a tree of processes that is gone does nothing', async () => {
      const { parent, pids } = await startTree()
      const ended = once(parent, 'exit')
      await signalTree(pids[0] ?? 0, 'SIGKILL', list)
      await ended
      for (const signal of ['SIGSTOP', 'SIGCONT', 'SIGKILL'] as const) {
        expect(await signalTree(pids[0] ?? 0, signal, list)).toBeUndefined()
      }
    })
  })
}
