import type { InvocationReport } from './invocation.ts'

export interface FunctionSpec {
  readonly name: string
  /** This is the folder of the bundle. */
  readonly taskRoot: string
  /** It has the form `file.export`, as in `index.handler`. */
  readonly handler: string
  /** The function gets these variables, and none of this process. */
  readonly variables: Readonly<Record<string, string>>
  readonly memoryMb: number
  readonly timeoutMs: number
  /** It is 10 s by default, as in AWS, where an environment has a processor of its own. */
  readonly initTimeoutMs?: number
  /** At most this many environments exist at a time. */
  readonly reservedConcurrency: number
  /** An environment is killed instead of reused after this many invocations or this time. By default it never is. */
  readonly recycleAfter?: RecycleAfter
  /**
   * This injects a fault: the next invocation is killed this long after its start, though it was told a later deadline.
   * If it returns undefined, the invocation is killed at its deadline, as without this.
   */
  readonly killAfterMs?: () => number | undefined
  /** The output of each environment is appended to the file NAME-ENVIRONMENT.log in this folder. */
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
