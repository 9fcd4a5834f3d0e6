import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { readOutput } from '../run-command.ts'

const TOOLS = ['buildah', 'mmdebstrap'] as const

/** Installs the missing tools on Debian. Returns why no image can be built here, or undefined if it can. */
export async function ensureImageTools(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can build images'
  const missing = TOOLS.filter((tool) => findOnPath(tool) === undefined)
  if (missing.length === 0) return undefined
  const system = readFileSync('/etc/os-release', 'utf8')
  if (!/^ID=debian$/m.test(system)) return `${missing.join(', ')}: not here, and only Debian's apt is tried`
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  try {
    await readOutput('apt-get', ['-q', 'update'], { env: environment })
    await readOutput('apt-get', ['-q', 'install', '-y', '--no-install-recommends', ...missing], {
      env: environment,
    })
    return undefined
  } catch (error: unknown) {
    return `${missing.join(', ')}: apt-get could not install (${String(error).split('\n').at(-1)})`
  }
}

/** Returns the path of a program. Returns undefined if it is not on the PATH. */
export function findOnPath(program: string): string | undefined {
  const paths = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, program))
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
