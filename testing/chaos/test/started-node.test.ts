import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { afterAll, expect, it } from 'vitest'
import { StartedNode } from '../src/crash-points/started-node.ts'

const NODE = join(import.meta.dirname, '../src/crash-points/node.ts')
const folder = mkdtempSync(join(tmpdir(), 'counterstep-started-node-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('A node that is too slow to listen is not taken for one that died at its armed point', async () => {
  const given = {
    path: join(folder, 'late', 'store.db'),
    armed: { point: 'purge-before', nth: 1 },
  } as const
  await expect(StartedNode.start(given, new SecretWatch(), { program: NODE, startMsMax: 1 })).rejects.toThrow(
    'did not listen within 1 ms',
  )
})
