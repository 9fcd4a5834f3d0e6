import { expect, it } from 'vitest'
import { Harness } from '../src/harness/harness.ts'
import { openPeers } from '../src/workflow/peers/open-peers.ts'
import { SMOKE, silent } from './smoke.ts'

const MISSING = { 'counterstep-missing': 'file:./missing.tgz' }

it('A peer that npm does not get is skipped by its name, with the reason', async () => {
  const harness = new Harness()
  try {
    const context = { settings: SMOKE, harness, progress: silent }
    const open = () => Promise.reject(new Error('it is not installed'))
    const postgres = {
      version: '15',
      isInMemory: false,
      worker: { name: 'database', cpuSeconds: () => undefined },
      newDatabase: open,
    }
    const { rows, notes } = await openPeers(context, postgres, [
      { name: 'missing', packages: MISSING, note: 'it is never there', open },
    ])
    expect(rows).toEqual([])
    expect(notes).toEqual([
      expect.stringMatching(
        /^missing is skipped: npm does not get counterstep-missing@file:\.\/missing\.tgz: ./,
      ),
    ])
  } finally {
    await harness.close()
  }
})
