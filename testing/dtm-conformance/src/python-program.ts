import { join } from 'node:path'
import { keptBuild } from './kept-build.ts'
import type { ClientProgram } from './program.ts'
import { buildStep, findSources, missingCommand } from './toolchain.ts'

export const pythonProgram: ClientProgram = {
  name: 'python',
  missing: () => missingCommand('python3', ['-c', 'import venv, ensurepip']),
  build: async (cacheFolder) => {
    const pythonIn = (folder: string) => join(folder, 'bin', 'python')
    const built = await keptBuild(
      { sources: findSources('python'), files: ['requirements.txt'], keptIn: join(cacheFolder, 'python') },
      async (folder) => {
        await buildStep('python', 'python3', ['-m', 'venv', folder])
        const install = ['-m', 'pip', 'install', '--quiet', '-r', 'requirements.txt']
        await buildStep('python', pythonIn(folder), install)
      },
    )
    return {
      command: pythonIn(built),
      args: [join(findSources('python'), 'main.py')],
      variables: { PYTHONDONTWRITEBYTECODE: '1' },
    }
  },
}
