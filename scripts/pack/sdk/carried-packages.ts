import { type PublicPackage, SDK } from '../public-packages.ts'

/** A workspace whose compiled files are in the SDK's package. */
export interface CarriedPackage extends PublicPackage {
  /** Within the published package's `dist`. */
  readonly as: string
}

export const CARRIED_SDK: CarriedPackage = { ...SDK, as: 'sdk' }

const CARRIED: readonly CarriedPackage[] = [
  CARRIED_SDK,
  { name: '@counterstep/barrier', folder: 'packages/barrier', as: 'barrier' },
  { name: '@counterstep/protocol', folder: 'packages/protocol', as: 'protocol' },
  { name: '@counterstep/signature', folder: 'packages/signature', as: 'signature' },
]

export function carriedPackage(name: string): CarriedPackage {
  const found = CARRIED.find((each) => each.name === name)
  if (found === undefined) throw new Error(`${name} is not carried by the package`)
  return found
}
