import type { JsonValue, Op, OperatorCommand } from '@counterstep/protocol'

/** A command for one transaction, or for one op of it. */
export interface CommandTarget {
  readonly gid: string
  readonly command: OperatorCommand
  readonly op?: { readonly branchId: string; readonly op: Op }
}

export type CommandBody = Readonly<Record<string, JsonValue>>
