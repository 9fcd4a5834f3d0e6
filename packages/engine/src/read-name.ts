import type { Definition } from '@counterstep/core'

/** Transactions without a name are counted together under this one. */
const WITHOUT_NAME = '-'

/** Reads the name under which a transaction is counted. */
export function readName({ name = WITHOUT_NAME }: Definition): string {
  return name
}
