import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlayedAnswer } from '../support/branch-service.ts'

const FOLDER = join(import.meta.dirname, '../../../../testing/dtm-conformance/golden')

export interface GoldenAnswer {
  readonly status: number
  readonly contentType?: string
  readonly location?: string
  readonly body: string
}

export interface GoldenStep {
  readonly request?: {
    readonly method: string
    readonly target: string
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string
  }
  readonly answer?: GoldenAnswer
  readonly answersByStore?: readonly { readonly answer: GoldenAnswer }[]
  readonly keepLines?: string
  readonly pollUntilStatus?: number
  readonly until?: { readonly gid: string; readonly status?: string; readonly calls?: number }
  readonly pauseMs?: number
}

export interface GoldenCall {
  readonly method: string
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

export interface GoldenCase {
  readonly name: string
  readonly emptyStore?: boolean
  readonly branches?: Readonly<Record<string, readonly PlayedAnswer[]>>
  readonly steps: readonly GoldenStep[]
  readonly calls?: readonly GoldenCall[]
  readonly callsByStore?: readonly { readonly calls: readonly GoldenCall[] }[]
  readonly order?: 'any'
  /** The number of repeats of a call depends on time, so equal calls in a row count as one. */
  readonly repeats?: 'any'
  readonly settleMs?: number
  readonly defect?: string
}

/** Lists the recorded files of the routes that the dialect supports. */
export function listGoldenFiles(): readonly string[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .sort()
}

export function readGolden(file: string): readonly GoldenCase[] {
  return JSON.parse(readFileSync(join(FOLDER, file), 'utf8'))
}

export function listAnswers({ answer, answersByStore = [] }: GoldenStep): readonly GoldenAnswer[] {
  return answer === undefined ? answersByStore.map((each) => each.answer) : [answer]
}

export function listCalls({ calls, callsByStore = [] }: GoldenCase): readonly (readonly GoldenCall[])[] {
  return calls === undefined ? callsByStore.map((each) => each.calls) : [calls]
}
