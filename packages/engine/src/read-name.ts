import type { Definition } from '@counterstep/core'

/** Transactions without a name are counted together under this one. */
const WITHOUT_NAME = '-'

/** Reads the name under which a transaction is counted. */
export function readName(definition: Definition): string {
  return 'name' in definition && typeof definition.name === 'string' ? definition.name : WITHOUT_NAME
}
