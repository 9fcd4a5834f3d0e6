import type { Operator } from '@counterstep/sdk/operator'
import type { OperatorLine } from '../line/operator-line.ts'

/** Asks a person at a terminal. */
export interface Terminal {
  /** Shows the text, and resolves with the line that is typed. */
  ask(question: string): Promise<string>
  close(): void
}

/** Everything that a command of operators works with. */
export interface OperatorContext {
  readonly line: OperatorLine
  readonly operator: Operator
  /** Prints the result. The line feed is added. */
  readonly print: (text: string) => void
  /** Prints what is for people and no result. */
  readonly say: (text: string) => void
  /** Returns undefined where no person can be asked. */
  readonly openTerminal: () => Terminal | undefined
  /** Reads a file. `-` is the standard input. */
  readonly readFile: (path: string) => Promise<string>
  /** How many characters a line may have. */
  readonly width: number
  readonly signal: AbortSignal
}
