import type { InvocationReport } from './invocation.ts'

export interface FunctionSpec {
  readonly name: string
  /** The folder of the bundle. */
  readonly taskRoot: string
  /** `file.export`, as in `index.handler`. */
  readonly handler: string
  /** None of this process is passed on. */
  readonly variables: Readonly<Record<string, string>>
  readonly memoryMb: number
  readonly timeoutMs: number
  /** Default: 10 s as in AWS, where an environment has a processor of its own. */
  readonly initTimeoutMs?: number
  /** Never are more environments busy. */
  readonly reservedConcurrency: number
  /** When an environment is killed instead of kept. Default: never. */
  readonly recycleAfter?: RecycleAfter
  /**
   * A fault: how long after its start the next invocation is killed, though it was told its whole time. Undefined: at
   * its deadline, as without this.
   */
  readonly killAfterMs?: () => number | undefined
  /** The folder of the logs: the output of each environment is appended to NAME-ENVIRONMENT.log here. */
  readonly logFolder: string
  readonly onReport?: (report: InvocationReport) => void
  readonly onLine?: (line: LogLine) => void
}

export interface RecycleAfter {
  readonly invocations?: number
  readonly ageMs?: number
}

export interface LogLine {
  readonly functionName: string
  readonly environment: number
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

export const REGION = 'eu-central-1'
export const ACCOUNT = '000000000000'

export function toArn({ name }: FunctionSpec): string {
  return `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`
}
