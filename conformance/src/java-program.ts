import { delimiter, join } from 'node:path'
import type { ClientProgram } from './program.ts'
import { buildStep, missingCommand } from './toolchain.ts'

export const javaProgram: ClientProgram = {
  name: 'java',
  missing: async () =>
    (await missingCommand('javac', ['-version'])) ?? (await missingCommand('mvn', ['--version'])),
  build: async (cacheFolder) => {
    const folder = join(cacheFolder, 'java')
    await buildStep('java', 'mvn', [
      ...['--quiet', '--batch-mode', `-Dconformance.out=${folder}`, 'package'],
      ...['dependency:copy-dependencies', '-DincludeScope=runtime'],
    ])
    const classPath = [join(folder, 'conformance.jar'), join(folder, 'dependency', '*')]
    return { command: 'java', args: ['-cp', classPath.join(delimiter), 'conformance.Main'] }
  },
}
