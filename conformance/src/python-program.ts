import { createHash } from 'node:crypto'
import { access, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClientProgram } from './program.ts'
import { buildStep, missingCommand, sourcesOf } from './toolchain.ts'

const HASH_CHARACTERS = 12

export const pythonProgram: ClientProgram = {
  name: 'python',
  missing: () => missingCommand('python3', ['-c', 'import venv, ensurepip']),
  build: async (cacheFolder) => {
    const requirements = join(sourcesOf('python'), 'requirements.txt')
    const hash = createHash('sha256').update(await readFile(requirements))
    const folder = join(cacheFolder, 'python', hash.digest('hex').slice(0, HASH_CHARACTERS))
    const command = join(folder, 'bin', 'python')
    const done = join(folder, 'installed')
    if (!(await exists(done))) {
      await rm(folder, { recursive: true, force: true })
      await buildStep('python', 'python3', ['-m', 'venv', folder])
      await buildStep('python', command, ['-m', 'pip', 'install', '--quiet', '-r', requirements])
      // Written last, so that an installation that was cut off is begun anew.
      await writeFile(done, '')
    }
    return {
      command,
      args: [join(sourcesOf('python'), 'main.py')],
      variables: { PYTHONDONTWRITEBYTECODE: '1' },
    }
  },
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  )
}
