import { delimiter, join } from 'node:path'
import { keptBuild } from './kept-build.ts'
import type { ClientProgram } from './program.ts'
import { buildStep, findSources, missingCommand } from './toolchain.ts'

export const javaProgram: ClientProgram = {
  name: 'java',
  missing: async () =>
    (await missingCommand('javac', ['-version'])) ?? (await missingCommand('mvn', ['--version'])),
  build: async (cacheFolder) => {
    const built = await keptBuild(
      { sources: findSources('java'), keptIn: join(cacheFolder, 'java') },
      (folder) =>
        buildStep('java', 'mvn', [
          ...['--quiet', '--batch-mode', `-Dconformance.out=${folder}`, 'package'],
          ...['dependency:copy-dependencies', '-DincludeScope=runtime'],
        ]),
    )
    const classPath = [join(built, 'conformance.jar'), join(built, 'dependency', '*')]
    return { command: 'java', args: ['-cp', classPath.join(delimiter), 'conformance.Main'] }
  },
}
