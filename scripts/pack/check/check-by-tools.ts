import { readFileSync } from 'node:fs'
import { attwFault } from './attw-fault.ts'
import { publintFault } from './publint-fault.ts'

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
