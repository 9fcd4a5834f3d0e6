import { join } from 'node:path'
import type { ClientProgram } from './program.ts'
import { buildStep, missingCommand } from './toolchain.ts'

export const goProgram: ClientProgram = {
  name: 'go',
  missing: () => missingCommand('go', ['version']),
  build: async (cacheFolder) => {
    const command = join(cacheFolder, 'go', 'conformance')
    await buildStep('go', 'go', ['build', '-mod=readonly', '-o', command, '.'])
    return { command, args: [] }
  },
}
