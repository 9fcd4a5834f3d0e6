import { stripVTControlCharacters } from 'node:util'
import { getExitCode } from '@arethetypeswrong/cli/internal/getExitCode'
import { typed, untyped } from '@arethetypeswrong/cli/internal/render'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'

type Options = Parameters<typeof getExitCode>[1]
/** The command's profile "esm-only", which it has by this name only among its options. */
const ESM_ONLY: Options = { ignoreResolutions: ['node10', 'node16-cjs'] }
const EVERY_RESOLUTION: Options = {}

/** Returns the complaint of "are the types wrong" about a tarball, in the words of its command, if there is one. */
export async function attwFault(tarball: Uint8Array): Promise<string | undefined> {
  const contents = createPackageFromTarballData(tarball)
  const result = await checkPackage(contents)
  // The command is content with a package that has no types at all.
  if (!result.types) return untyped(result).trim()
  const { packageName } = contents
  const manifest = JSON.parse(contents.readFile(`/node_modules/${packageName}/package.json`))
  // A package with an entry for CommonJS has to serve every compiler.
  const options = manifest.main === undefined ? ESM_ONLY : EVERY_RESOLUTION
  if (getExitCode(result, options) === 0) return undefined
  const text = await typed(result, { ...options, format: 'ascii', emoji: false })
  return stripVTControlCharacters(text).trim()
}
