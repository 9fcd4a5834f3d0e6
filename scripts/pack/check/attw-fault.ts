import { stripVTControlCharacters } from 'node:util'
import { getExitCode } from '@arethetypeswrong/cli/internal/getExitCode'
import { typed, untyped } from '@arethetypeswrong/cli/internal/render'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'

/** The command's profile "esm-only", which it has by this name only among its options. */
const ESM_ONLY: Parameters<typeof getExitCode>[1] = { ignoreResolutions: ['node10', 'node16-cjs'] }

/** What "are the types wrong" says of a tarball, in the words of its command, if anything. */
export async function attwFault(tarball: Uint8Array): Promise<string | undefined> {
  const result = await checkPackage(createPackageFromTarballData(tarball))
  // The command is content with a package that has no types at all.
  if (!result.types) return untyped(result).trim()
  if (getExitCode(result, ESM_ONLY) === 0) return undefined
  const text = await typed(result, { ...ESM_ONLY, format: 'ascii', emoji: false })
  return stripVTControlCharacters(text).trim()
}
