import type { Definition } from '@counterstep/core'
import { WITHOUT_NAME } from '@counterstep/protocol'

/** Reads the name under which a transaction is counted. */
export function readName({ name = WITHOUT_NAME }: Definition): string {
  return name
}
