import { setTimeout as delay } from 'node:timers/promises'
import {
  type Barrier,
  BranchFailure,
  endpoint,
  isBranchFailure,
  signal,
  step,
  workflow,
} from '@counterstep/sdk'
import { makeToken } from '../tokens/token.ts'
import type { Answer, Entry } from './bank-work.ts'
import { applyStepMood, type StepMood } from './mood.ts'
import type { TransferPayload } from './transfer-payload.ts'

/** The database transaction of a local step. An entry that it writes stands in the ledger under the step's slot. */
export interface StepTx {
  /** Returns the answer of the entry. */
  write(entry: Entry): Answer | undefined | Promise<Answer | undefined>
}

/** An amount that a local step adds to an account of its own bank. */
export interface LocalMove {
  readonly label: string
  readonly account: string
  readonly cents: number
  readonly mood: StepMood
}

/** A transfer of any bank, which the workflow calls under the label. */
export interface CalledMove {
  readonly label: string
  readonly url: string
  readonly payload: TransferPayload & { readonly secret: string }
}

export type Move = LocalMove | CalledMove

/** One thing that the function does. */
export type Part =
  | { readonly type: 'one'; readonly move: Move }
  /** If the first one fails, the other one takes its place. */
  | { readonly type: 'either'; readonly move: Move; readonly other: Move }
  | { readonly type: 'together'; readonly moves: readonly Move[] }
  | { readonly type: 'rest'; readonly id: string; readonly ms: number }
  /** The moves behind it are given an id that the function itself has drawn. */
  | { readonly type: 'quote'; readonly slowMs: number }
  | { readonly type: 'approval'; readonly timeoutMs: number; readonly isNeeded: boolean }
  | {
      readonly type: 'pivot'
      readonly pivot: CalledMove
      readonly receipt: CalledMove
      readonly kept: LocalMove
    }
  | { readonly type: 'refuse' }

export interface TransferInput {
  readonly parts: readonly Part[]
}

/** The result of a workflow names the moves that its function takes for done. */
export interface TransferResult {
  readonly done: readonly string[]
}

export const TRANSFER_WORKFLOW = 'transfer'
/** The steps that take from an account, that give to one, and that give for good. */
export const STEP_NAMES = { take: 'take', give: 'give', keep: 'keep' } as const

/** The name of the place at which the code was changed. */
const CHANGE = 'rests-first'

const approval = signal<Answer>('approval')

/**
 * The workflow that each bank serves beside its transfers: steps behind its own barrier, and calls of any bank. The input says
 * which, in which order, and what is caught. The changed code rests before it begins.
 */
export function createTransferWorkflow(barrier: Barrier<StepTx>, draw: () => number, isChanged: boolean) {
  const write = (tx: StepTx, { account, cents, mood, quote }: QuotedMove) => {
    applyStepMood(mood, draw)
    return tx.write({ account, cents, ...(quote === undefined ? {} : { answer: { id: quote } }) })
  }
  const undo = (tx: StepTx, { account, cents }: QuotedMove) => tx.write({ account, cents: -cents })
  const take = step(STEP_NAMES.take, { do: write, undo })
  const give = step(STEP_NAMES.give, { do: write, undo })
  const keep = step(STEP_NAMES.keep, { do: write })
  return workflow(
    TRANSFER_WORKFLOW,
    { version: 1, barrier, steps: [take, give, keep] },
    async (ctx, { parts }: TransferInput): Promise<TransferResult> => {
      const done: string[] = []
      let quote: string | undefined
      if (isChanged && ctx.patched(CHANGE)) await ctx.sleep('first-rest', 1)
      const ask = (move: Move): Promise<unknown> => {
        if ('url' in move) return ctx.call(move.label, ...toCall(move, quote))
        return ctx.step(move.cents < 0 ? take : give, toQuoted(move, quote))
      }
      const make = async (...moves: readonly Move[]): Promise<void> => {
        await ctx.all(moves.map(ask))
        done.push(...moves.map(({ label }) => label))
      }
      for (const part of parts) {
        switch (part.type) {
          case 'one':
            await make(part.move)
            break
          case 'either':
            try {
              await make(part.move)
            } catch (error: unknown) {
              if (!isBranchFailure(error)) throw error
              await make(part.other)
            }
            break
          case 'together':
            await make(...part.moves)
            break
          case 'rest':
            await ctx.sleep(part.id, part.ms)
            break
          case 'quote':
            quote = await ctx.run('quote', async () => {
              await delay(part.slowMs)
              return makeToken('quote')
            })
            break
          case 'approval': {
            const { isNeeded, timeoutMs } = part
            const approved = await ctx.signal('approval', approval, { timeoutMs })
            if (approved === undefined && isNeeded) throw new BranchFailure('it was not approved')
            break
          }
          case 'pivot': {
            const { pivot, receipt, kept } = part
            const { ctx: sure } = await ctx.pivot(pivot.label, ...toSureCall(pivot, quote))
            await sure.call(receipt.label, ...toSureCall(receipt, quote))
            await sure.step(keep, toQuoted(kept, quote))
            done.push(pivot.label, receipt.label, kept.label)
            break
          }
          case 'refuse':
            throw new BranchFailure('it is refused at last')
        }
      }
      return { done }
    },
  )
}

type QuotedMove = LocalMove & { readonly quote?: string }

function toQuoted(move: LocalMove, quote: string | undefined): QuotedMove {
  return quote === undefined ? move : { ...move, quote }
}

type CalledPayload = CalledMove['payload'] & { readonly quote?: string }

function toCall({ url, payload }: CalledMove, quote: string | undefined) {
  const content: CalledPayload = quote === undefined ? payload : { ...payload, quote }
  const undo = endpoint<CalledPayload, void>(url)
  return [
    endpoint<CalledPayload, void, string>(url),
    { payload: content, undo: () => ({ to: undo, payload: content }) },
  ] as const
}

function toSureCall({ url, payload }: CalledMove, quote: string | undefined) {
  const content: CalledPayload = quote === undefined ? payload : { ...payload, quote }
  return [endpoint<CalledPayload, void>(url), { payload: content }] as const
}
