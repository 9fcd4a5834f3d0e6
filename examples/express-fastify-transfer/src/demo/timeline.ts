import type { OpView, TransactionView } from '@counterstep/sdk'

/** One line for each op that was called, in the order of their starts, and one for the end. */
export function timeline({
  branches,
  createdAt,
  finishedAt = createdAt,
  status,
  abort,
}: TransactionView): string {
  const called = branches
    .flatMap(({ id, ops }) =>
      ops.flatMap((op) => (op.startedAt === undefined ? [] : [{ id, op, atMs: op.startedAt - createdAt }])),
    )
    .sort((a, b) => a.atMs - b.atMs)
  const line = (atMs: number, text: string) => `  ${String(atMs).padStart(5)} ms  ${text}`
  const why = abort === undefined ? '' : `: ${abort.cause} at ${abort.branchId ?? 'no branch'}`
  return [
    ...called.map(({ id, op, atMs }) =>
      line(atMs, `${id.padEnd(6)}  ${op.op.padEnd(10)}  ${readAnswer(op)}`),
    ),
    line(finishedAt - createdAt, `${status}${why}`),
  ].join('\n')
}

function readAnswer({ result, statusCode, error, answer = '' }: OpView): string {
  const code = /"code":"([A-Z_]+)"/.exec(answer)?.[1]
  return [statusCode ?? error ?? '-', result ?? 'no result', ...(code === undefined ? [] : [code])].join(' ')
}
