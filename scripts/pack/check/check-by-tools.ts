import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { getExitCode } from '@arethetypeswrong/cli/internal/getExitCode'
import { typed, untyped } from '@arethetypeswrong/cli/internal/render'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

type AttwOptions = Parameters<typeof getExitCode>[1]

/** The command's profile "esm-only", which it has by this name only among its options. */
const ESM_ONLY: AttwOptions = { ignoreResolutions: ['node10', 'node16-cjs'] }
const EVERY_RESOLUTION: AttwOptions = {}

/**
 * Returns the complaints of publint and "are the types wrong" about a tarball. Both are called in this process: as
 * commands, each would load its modules, one of them a whole TypeScript, again for every package.
 */
export async function checkByTools(tarball: string): Promise<string[]> {
  // A copy, since what is read may be a view of a buffer that holds more.
  const bytes = new Uint8Array(readFileSync(tarball))
  return [
    ...(await complaint('publint', publintFault(bytes))),
    ...(await complaint('attw', attwFault(bytes))),
  ]
}

/** A package at which a tool fails is not sound; the others are still to be checked. */
async function complaint(name: string, asked: Promise<string | undefined>): Promise<string[]> {
  try {
    const fault = await asked
    return fault === undefined ? [] : [`${name}: ${fault}`]
  } catch (error: unknown) {
    return [`${name}: ${error instanceof Error ? error.stack : error}`]
  }
}

/** Returns the complaint of "are the types wrong" about a tarball, in the words of its command, if there is one. */
async function attwFault(tarball: Uint8Array): Promise<string | undefined> {
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

/** Returns publint's complaints about a tarball, if it has more than suggestions. A warning counts as an error. */
async function publintFault(tarball: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: tarball.buffer } })
  const errors = messages.filter(({ type }) => type === 'error')
  if (errors.length === 0) return undefined
  const others = messages.filter(({ type }) => type !== 'error')
  return [...errors, ...others]
    .map((message) => `${message.type}: ${formatMessage(message, pkg, { color: false }) ?? message.code}`)
    .join('\n')
}
