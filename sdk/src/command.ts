import type { TransactionView } from '@counterstep/protocol'
import { sendCommandAgain } from './attempt-doubt.ts'
import { isCounterstepError } from './errors.ts'
import type { AbortOptions } from './options.ts'
import { buildPreferWait } from './prefer-wait.ts'
import type { Setup } from './setup.ts'
import { toJson } from './to-json.ts'
import { fetchTransaction, readTransaction, transactionPath } from './transaction.ts'

type Command = 'abort' | 'retry' | 'stop'

export async function command(
  setup: Setup,
  verb: Command,
  gid: string,
  { signal, waitMs = 0, reason, ...options }: AbortOptions,
): Promise<TransactionView> {
  const { headers, longerMs } = buildPreferWait(waitMs)
  const path = `${transactionPath(gid)}/${verb}`
  const timeoutMs = setup.timeoutMs + longerMs
  const body = reason === undefined ? {} : { body: toJson({ reason }, gid) }
  const request = { method: 'POST', path, headers, ...body, timeoutMs, signal, gid } as const
  const persistence = {
    retryForMs: options.retryForMs ?? setup.retryForMs,
    serverCount: setup.serverCount,
    signal,
  }
  const attempt = async (number: number) => {
    try {
      return readTransaction(await setup.send(request), gid)
    } catch (error: unknown) {
      if (number === 1 || !isTooLate(error)) throw error
      // The command may be too late only because an earlier attempt, whose answer was lost, has done it already.
      const view = await fetchTransaction(setup, gid, {
        retryForMs: 0,
        ...(signal === undefined ? {} : { signal }),
      })
      if (wasDone(verb, view)) return view
      throw error
    }
  }
  return sendCommandAgain(gid, attempt, persistence)
}

function isTooLate(error: unknown): boolean {
  return isCounterstepError(error) && error.code === 'SAGA_ALREADY_FINAL'
}

function wasDone(verb: Command, { status, abort }: TransactionView): boolean {
  if (verb === 'abort') return abort?.cause === 'requested'
  return verb === 'stop' && status === 'stopped'
}
