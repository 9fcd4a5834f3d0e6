import { join } from 'node:path'
import { keptBuild } from './kept-build.ts'
import type { ClientProgram } from './program.ts'
import { buildStep, findSources, missingCommand } from './toolchain.ts'

export const goProgram: ClientProgram = {
  name: 'go',
  speaksGrpc: true,
  missing: () => missingCommand('go', ['version']),
  build: async (cacheFolder) => {
    const commandIn = (folder: string) => join(folder, 'conformance')
    const built = await keptBuild({ sources: findSources('go'), keptIn: join(cacheFolder, 'go') }, (folder) =>
      buildStep('go', 'go', ['build', '-mod=readonly', '-o', commandIn(folder), '.']),
    )
    return { command: commandIn(built), args: [] }
  },
}
